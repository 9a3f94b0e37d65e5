// The playground: what is typed goes to /run, and what comes back is shown beside it.
//
// Everything that comes back is text (textContent), never markup.  The program of a link is in its fragment, which
// browsers do not send to anybody; it is shown, and runs only when somebody says so.
"use strict";

const EXAMPLES = {
  "loop": [`def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
`, "collatz(27)"],
  "words": [`def count(text: str) -> Dict[str, int]:
    found: Dict[str, int] = {}
    for word in text.lower().split():
        found[word] = found.get(word, 0) + 1
    return found
`, "count('the cat and the dog and the bird')"],
  "tensors": [`def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.t() / float(q.size(1)) ** 0.5
    return torch.softmax(scores, 1) @ v
`, "attention(torch.eye(3), torch.eye(3), torch.ones(3, 2))"],
  "a class": [`class Stack(object):
    def __init__(self):
        self.items: List[int] = []

    def push(self, item: int):
        self.items.append(item)

    def pop(self) -> int:
        return self.items.pop()

def reversed_sum(n: int) -> List[int]:
    stack = Stack()
    for i in range(n):
        stack.push(i * i)
    found: List[int] = []
    for i in range(n):
        found.append(stack.pop())
    return found
`, "reversed_sum(5)"],
  "an error": [`def mean(xs: List[float]) -> float:
    assert len(xs) > 0, "the list is empty"
    total = 0.0
    for x in xs:
        total += x
    return total / len(xs)

def of_nothing() -> float:
    xs: List[float] = []
    return mean(xs)
`, "of_nothing()"],
  "infinite loop": [`def forever(n: int) -> int:
    while n > 0:
        n += 1
    return n
`, "forever(1)"],
};
const MAX_FRAGMENT_CHARS = 100000; // characters of a fragment
const KEYWORDS = /^(?:def|return|while|for|in|if|elif|else|not|and|or|is|None|True|False|class|import|from|as|with|raise|assert|pass|break|continue|del|self)$/;
const TOKENS = /(#.*$)|("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|([A-Za-z_]\w*)|(\d[\w.]*)|(\s+|.)/gm;

const $ = (id) => document.getElementById(id);
const source = $("source"), call = $("call"), view = $("view");
let answer = { functions: [] };
let shown = "graph";
let litLine = 0, wrongLine = 0;
let asked = 0;

function element(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// ---- the editor ----

function colour() {
  const lines = source.value.split("\n");
  const rows = lines.map((line, i) => {
    const row = element("span", "");
    if (line.length > 2000) { row.textContent = line; return row; }
    for (const [text, comment, string, word, number] of line.matchAll(TOKENS)) {
      const tag = comment ? "s" : string ? "i" : number ? "u" : word && KEYWORDS.test(word) ? "b" : null;
      row.append(tag ? element(tag, text) : text);
    }
    return row;
  });
  $("colours").replaceChildren(...rows);
  $("numbers").replaceChildren(...lines.map((_, i) => element("span", i + 1)));
  light();
  scroll();
}

function scroll() {
  $("colours").scrollTop = $("numbers").scrollTop = source.scrollTop;
  $("colours").scrollLeft = source.scrollLeft;
}

function light() {
  for (const rows of [$("colours").children, $("numbers").children]) {
    for (let i = 0; i < rows.length; i++) {
      rows[i].classList.toggle("lit", i + 1 === litLine);
      rows[i].classList.toggle("wrong", i + 1 === wrongLine);
    }
  }
  for (const row of view.children) row.classList.toggle("lit", litLine > 0 && Number(row.dataset.line) === litLine);
}

function lineOf(place) {
  return source.value.slice(0, place).split("\n").length;
}

function insert(text) {
  source.setRangeText(text, source.selectionStart, source.selectionEnd, "end");
  source.dispatchEvent(new Event("input"));
}

let tabLeaves = false;
source.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { tabLeaves = true; return; }
  if (event.key === "Tab" && !tabLeaves && !event.shiftKey && !event.ctrlKey && !event.altKey) {
    event.preventDefault();
    insert("    ");
  } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
    event.preventDefault();
    const line = source.value.slice(0, source.selectionStart).split("\n").pop();
    insert("\n" + line.match(/^ */)[0] + (/:\s*$/.test(line) ? "    " : ""));
  }
  if (event.key !== "Shift") tabLeaves = false;
});
source.addEventListener("input", () => { wrongLine = litLine = 0; colour(); });
source.addEventListener("scroll", scroll);
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== source || !answer.functions.length) return;
  litLine = lineOf(source.selectionStart);
  light();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
});

// ---- what becomes of it ----

function show() {
  const found = answer.functions[$("functions").selectedIndex];
  $("schema").textContent = found ? found.schema : "";
  view.setAttribute("aria-labelledby", "tab-" + shown);
  view.replaceChildren(...(found ? found[shown] : []).map(([text, line]) => {
    const row = element("span", text, text.startsWith("# ") ? "place" : "");
    if (line) row.dataset.line = line;
    return row;
  }));
  light();
}

view.addEventListener("mouseover", (event) => { litLine = Number(event.target.dataset.line) || 0; light(); });
view.addEventListener("mouseleave", () => { litLine = 0; light(); });
view.addEventListener("click", (event) => { litLine = Number(event.target.dataset.line) || 0; light(); });
$("functions").addEventListener("change", show);
$("tabs").addEventListener("click", (event) => choose(event.target));
$("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...$("tabs").children], at = tabs.indexOf(document.activeElement);
  choose(tabs[(at + step + tabs.length) % tabs.length]).focus();
});

function choose(tab) {
  if (!tab.dataset.view) return tab;
  shown = tab.dataset.view;
  for (const each of $("tabs").children) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
  }
  show();
  return tab;
}

function duration(seconds) {
  return seconds < 1e-3 ? `${(seconds * 1e6).toFixed(0)} us` : seconds < 1 ? `${(seconds * 1e3).toFixed(1)} ms` : `${seconds.toFixed(2)} s`;
}

function tell() {
  const rows = [];
  if (answer.output) rows.push(element("small", "printed"), element("pre", answer.output, "output"));
  if (answer.error) {
    const { kind, message, text, line } = answer.error;
    const pre = element("pre", "", "error");
    pre.append(element("span", kind, "kind"), `: ${message}`);
    rows.push(element("small", line ? `error in line ${line}` : "error"), pre);
    if (text && text.trim() !== message.trim()) {
      const more = element("details", "");
      more.append(element("summary", "full message"), element("pre", text));
      rows.push(more);
    }
  }
  if (answer.result !== null && answer.result !== undefined) {
    rows.push(element("small", `result, after ${duration(answer.seconds)}`), element("pre", answer.result, "result"));
  } else if (!answer.error && answer.functions.length) {
    rows.push(element("small", "compiled; the call is empty"));
  }
  $("outcome").replaceChildren(...rows);
  wrongLine = answer.error ? answer.error.line : 0;
}

function fail(kind, message) {
  return { functions: [], output: "", result: null, seconds: null, error: { kind, message, text: "", line: 0 } };
}

async function run() {
  const number = ++asked;
  $("run").disabled = true;
  $("run").textContent = "Running";
  let found;
  try {
    const response = await fetch("run", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ source: source.value, call: call.value }),
    });
    found = await response.json();
    if (found.error && found.functions === undefined) found = fail("Rejected", found.error.message);
  } catch (error) {
    found = fail("No response", "the server cannot be reached; is `ts serve` running?");
  }
  if (number !== asked) return;
  $("run").disabled = false;
  $("run").textContent = "Run";
  const before = $("functions").value;
  answer = found;
  litLine = 0;
  $("functions").replaceChildren(...answer.functions.map((each) => {
    const option = element("option", each.name);
    option.selected = each.name === before;
    return option;
  }));
  tell();
  show();
}
$("form").addEventListener("submit", (event) => { event.preventDefault(); run(); });

// ---- links ----

function encoded(text) {
  const bytes = new TextEncoder().encode(text);
  let found = "";
  for (const byte of bytes) found += String.fromCharCode(byte);
  return btoa(found).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decoded(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

async function share() {
  const fragment = encoded(JSON.stringify([source.value, call.value]));
  if (fragment.length > MAX_FRAGMENT_CHARS) { $("outcome").replaceChildren(element("small", "the program is too long for a link")); return; }
  history.replaceState(null, "", "#" + fragment);
  let said = "Link in the address bar";
  try {
    await navigator.clipboard.writeText(location.href);
    said = "Copied";
  } catch (error) { /* without permission the link is in the address only, which is what it says */ }
  $("share").textContent = said;
  setTimeout(() => { $("share").textContent = "Share"; }, 1500);
}
$("share").addEventListener("click", share);

function put(text, called) {
  source.value = text;
  call.value = called;
  answer = { functions: [] };
  wrongLine = litLine = 0;
  $("functions").replaceChildren();
  $("outcome").replaceChildren();
  show();
  colour();
}

function open() {
  const fragment = location.hash.slice(1);
  if (!fragment) { put(...EXAMPLES["loop"]); return; }
  try {
    const found = fragment.length <= MAX_FRAGMENT_CHARS ? JSON.parse(decoded(fragment)) : null;
    if (!Array.isArray(found) || found.length !== 2 || !found.every((each) => typeof each === "string")) throw new Error();
    put(...found);
    $("outcome").replaceChildren(element("small", "This program was loaded from the link and has not run yet."));
  } catch (error) {
    put(...EXAMPLES["loop"]);
    $("outcome").replaceChildren(element("small", "The link contains no valid program."));
  }
}
window.addEventListener("hashchange", open);

for (const name of Object.keys(EXAMPLES)) $("examples").append(element("option", name));
$("examples").addEventListener("change", (event) => {
  if (!event.target.value) return;
  put(...EXAMPLES[event.target.value]);
  history.replaceState(null, "", location.pathname);
  event.target.value = "";
  run();
});
open();
