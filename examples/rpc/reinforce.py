"""Policy gradients (REINFORCE) with one policy and several environments, in separate processes.

    python examples/rpc/reinforce.py [--observers 2] [--rounds 60]

An observer has an environment and a reference to the agent, whose method it calls for each action.  The agent
stores the log probabilities of its actions and learns from the rewards at the end of each round.
"""

import argparse

from launch import run

import ts as torch
from ts import nn
from ts.distributed import rpc

LENGTH = 7  # length of the corridor; its right end is the goal, its left end a pit
MAX_STEPS = 25  # maximum number of steps of an episode


class Corridor:
    """Environment: a position in a corridor, with moves left and right."""

    def reset(self) -> int:
        """Return to the middle and return this position."""
        self.position = LENGTH // 2
        return self.position

    def step(self, right: bool) -> tuple[int, float, bool]:
        """Return the new position, the reward and the end-of-episode flag."""
        self.position += 1 if right else -1
        if self.position == LENGTH - 1:
            return self.position, 1.0, True
        return self.position, -1.0 if self.position == 0 else -0.02, self.position == 0


class Agent:
    """The policy, its actions and its optimizer."""

    def __init__(self, observers: int) -> None:
        torch.manual_seed(0)
        self.policy = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=0.02)
        self.log_probabilities: list[list[torch.Tensor]] = [[] for _ in range(observers)]

    def act(self, observer: int, position: int) -> bool:
        """Return True to move right."""
        state = nn.functional.one_hot(torch.tensor(position), LENGTH).float()
        choice = torch.distributions.Categorical(logits=self.policy(state))
        action = choice.sample()
        self.log_probabilities[observer].append(choice.log_prob(action))
        return bool(action.item())

    def learn(self, rewards: list[list[float]]) -> None:
        """Update the policy with the discounted returns of all episodes."""
        losses = []
        for log_probabilities, gained in zip(self.log_probabilities, rewards, strict=True):
            total = 0.0
            for probability, reward in zip(reversed(log_probabilities), reversed(gained), strict=True):
                total = reward + 0.95 * total
                losses.append(-probability * total)
            log_probabilities.clear()
        self.optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        self.optimizer.step()


def episode(agent: rpc.RRef, observer: int) -> list[float]:
    """Run an episode of one observer and return its rewards."""
    environment = Corridor()
    position, done, rewards = environment.reset(), False, []
    while not done and len(rewards) < MAX_STEPS:
        position, reward, done = environment.step(agent.rpc_sync().act(observer, position))
        rewards.append(reward)
    return rewards


def process(rank: int, observers: int, rounds: int) -> None:
    """Run one process; rank 0 is the agent."""
    options = rpc.TensorPipeRpcBackendOptions(allow_python=True)
    rpc.init_rpc(f"process{rank}", rank=rank, world_size=observers + 1, rpc_backend_options=options)
    if rank == 0:
        agent = Agent(observers)
        handle = rpc.RRef(agent)
        gained = []
        for _ in range(rounds):
            calls = [rpc.rpc_async(f"process{k + 1}", episode, args=(handle, k)) for k in range(observers)]
            rewards = torch.futures.wait_all(calls)
            agent.learn(rewards)
            gained.append(sum(map(sum, rewards)) / observers)
        reached = sum(reward > 0.5 for reward in gained[-10:])
        print(f"{rounds} rounds with {observers} observers: {reached} of the last 10 reached the goal")
        del handle, calls
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--observers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    run(process, given.observers + 1, given.observers, given.rounds)
