"""A scripted LSTM learns to write Python's documentation, character by character.

The text is in Python's standard library (`pydoc_data.topics`, about 450 kB); there is no download.

    pip install 'torchscript-ts[examples]'
    python examples/char_lstm.py                    writes build/examples/char_lstm.png, and some text

Functions take the library as an argument, so that they also run with PyTorch: `train_model(torch, ...)`.
"""

from typing import Any, Iterator, List, Tuple

from training_utils import arguments, draw, endless, run

import ts

BATCH, WINDOW, HIDDEN = 16, 32, 128


def source_text() -> str:
    """Return the concatenated language topics of Python's `help()`."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def network(torch: Any, letters: int) -> Any:
    """Return a scripted model: characters (batch, steps) to scores of the next (batch, steps, letters)."""
    nn = torch.nn

    class CharLSTM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.Embedding(letters, 4 * HIDDEN)  # contribution of each letter to the gates
            self.hidden = nn.Linear(HIDDEN, 4 * HIDDEN)
            self.scores = nn.Linear(HIDDEN, letters)

        def cell(
            self, gates: torch.Tensor, state: Tuple[torch.Tensor, torch.Tensor]
        ) -> Tuple[torch.Tensor, torch.Tensor]:
            h, c = state
            i, f, g, o = (gates + self.hidden(h)).chunk(4, 1)
            c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(g)
            return torch.sigmoid(o) * torch.tanh(c), c

        def forward(self, text: torch.Tensor) -> torch.Tensor:
            gates = self.inputs(text)
            zero = gates.new_zeros(text.size(0), self.hidden.in_features)
            state = zero, zero
            seen: List[torch.Tensor] = []
            for step in range(text.size(1)):
                state = self.cell(gates[:, step], state)
                seen.append(state[0])
            return self.scores(torch.stack(seen, 1))

        @torch.jit.export
        def write(self, start: List[int], length: int, temperature: float) -> List[int]:
            """Return `length` characters that continue `start`."""
            zero = torch.zeros(1, self.hidden.in_features)
            state = zero, zero
            written: List[int] = []
            letter = start[0]
            for index in range(len(start) + length - 1):
                state = self.cell(self.inputs(torch.tensor([letter])), state)
                if index + 1 < len(start):
                    letter = start[index + 1]
                else:
                    chances = torch.softmax(self.scores(state[0]) / temperature, 1)
                    letter = int(torch.multinomial(chances, 1))
                    written.append(letter)
            return written

    return torch.jit.script(CharLSTM())


def windows(torch: Any, text: Any) -> Any:
    """Return a data set of all sections of the text with WINDOW + 1 characters."""

    class Windows(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(text) - WINDOW

        def __getitem__(self, i: int) -> Any:
            return text[i : i + WINDOW + 1]

    return Windows()


def batches(torch: Any, text: Any, seed: int) -> Iterator[Any]:
    """Yield sections of the text (batch, WINDOW + 1) at random positions, endlessly."""
    data = windows(torch, text)
    generator = torch.Generator().manual_seed(seed)
    loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, generator=generator, drop_last=True)
    return endless(loader)


def train_model(torch: Any, model: Any, optimizer: Any, data: Iterator[Any], steps: int) -> List[float]:
    """Train the model on `steps` batches and return the loss of each, per character."""

    def step() -> float:
        text = next(data)
        optimizer.zero_grad()
        scores = model(text[:, :-1])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return run("training", steps, step)


def main() -> None:
    options = arguments(__doc__, steps=1500, needs=["matplotlib"])
    ts.manual_seed(options.seed)
    text = source_text()
    letters = sorted(set(text))
    numbers = {letter: number for number, letter in enumerate(letters)}
    encoded = ts.tensor([numbers[letter] for letter in text])
    model = network(ts, len(letters))
    optimizer = ts.optim.Adam(model.parameters(), lr=4e-3)
    losses = train_model(ts, model, optimizer, batches(ts, encoded, options.seed), options.steps)
    draw(losses, options.out / "char_lstm.png", "Python's documentation, character by character")
    print(f"loss {losses[-1]:.3f} per character; generated text:\n")
    start = "The "
    written = model.write([numbers[letter] for letter in start], 400, 0.5)
    print(start + "".join(letters[number] for number in written))


if __name__ == "__main__":
    main()
