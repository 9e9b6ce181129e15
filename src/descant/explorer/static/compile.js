// Compile: an editor that complains under the line, and the network that comes of a program.
import { Controls, FigureView, ask, byId, make, number, permission, readState, save, stream, trouble, unreached, writeState } from "./common.js";

const DEFAULTS = { example: "ridge", program: "", set: "", prefer: "work", seed: 0, block: 0 };
const state = readState(DEFAULTS);
const text = byId("text");
const [stateFigure, sizes] = [new FigureView("state", { titled: true }), new FigureView("sizes", { titled: true })];
const status = byId("status");
const COLOURS = 8;
let checking, stale, job, wait, states = [];

const example = () => [...byId("example").options].find((option) => option.value === state.example)?.dataset.text ?? "";
const given = () => Object.fromEntries(new URLSearchParams(state.set).entries().map(([name, value]) => [name, +value]).filter(([, value]) => Number.isFinite(value)));

const controls = new Controls(byId("controls"), state, (name) => {
  if (name === "example") {
    Object.assign(state, { program: "", set: "", block: 0 });
    text.value = example();
    number_lines();
    changed();
    check();
  }
  writeState(state, DEFAULTS);
});

// All lines are seen, up to as many as a screen has.
function number_lines() {
  text.rows = Math.max(6, Math.min(28, text.value.split("\n").length + 1));
  byId("controls").querySelector(".lines").textContent = text.value.split("\n").map((_, index) => index + 1).join("\n");
}

text.addEventListener("input", () => {
  state.program = text.value === example() ? "" : text.value;
  writeState(state, DEFAULTS);
  number_lines();
  changed();
  clearTimeout(wait);
  wait = setTimeout(check, 150);
});
// What is drawn below is of another text.
function changed() { if (!byId("made").hidden) status.textContent = "Changed: what is drawn below is of another text, until it is compiled again."; }

text.addEventListener("scroll", () => {
  byId("controls").querySelector(".lines").scrollTop = text.scrollTop;
  byId("controls").querySelector(".marks").style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
});

// One check at a time: what is typed while one is under way is asked for when it has come, the latest text only.
async function check() {
  if (checking) { stale = true; return checking; }
  const own = async () => {
    do {
      stale = false;
      try {
        await permission();
        const found = await ask("check", { text: text.value, settings: given() });
        if (stale) continue;
        trouble(null);
        complain(found.error);
        if (!found.error) fields(found);
      } catch (error) {
        trouble(unreached(error));
      }
    } while (stale);
    checking = undefined;
  };
  checking = own();
  return checking;
}

function complain(error) {
  const marks = byId("controls").querySelector(".marks");
  const complaint = byId("complaint");
  complaint.classList.toggle("wrong", Boolean(error));
  byId("build").disabled = Boolean(error);
  text.setAttribute("aria-invalid", String(Boolean(error)));
  if (!error) {
    marks.replaceChildren();
    complaint.textContent = "No mistake is seen.";
    return;
  }
  const lines = text.value.split("\n");
  const start = error.placed ? error.column - 1 : 0;
  const end = error.placed && error.end_line === error.line && error.end_column > error.column ? error.end_column - 1 : (lines[error.line - 1] ?? "").length;
  // As wide as the letters above it: the same text, unseen, and underlined where it is wrong.
  const line = lines[error.line - 1] ?? "";
  const wrong = make("u", {}, line.slice(start, Math.max(end, start + 1)) || " ");
  marks.replaceChildren("\n".repeat(error.line - 1), line.slice(0, start), wrong);
  complaint.textContent = error.placed ? `Line ${error.line}: ${error.sentence}` : error.sentence;
}

function fields(found) {
  const place = byId("settings");
  const names = [...Object.entries(found.sizes), ...Object.entries(found.scalars)];
  const now = [...place.querySelectorAll("input")].map((input) => input.name).join(" ");
  if (now === names.map(([name]) => name).join(" ")) return;
  place.replaceChildren(place.querySelector("legend"), ...names.map(([name, value]) => {
    const input = make("input", { type: "number", step: name in found.sizes ? "1" : "any", name, value });
    input.addEventListener("change", () => {
      const set = new URLSearchParams(state.set);
      set.set(name, input.value);
      state.set = set.toString();
      writeState(state, DEFAULTS);
      changed();
      check();
    });
    return make("label", {}, make("span", {}, name), input);
  }));
}

async function compile(more = {}) {
  job?.stop();
  trouble(null);
  byId("stop").hidden = false;
  status.textContent = "Compiling.";
  const asked = { text: text.value, settings: given(), prefer: state.prefer, seed: state.seed, ...more };
  const own = job = stream("compile", asked, (event) => {
    if (event.event === "checked") { complain(event.error); status.textContent = ""; }
    if (event.event === "waiting") status.textContent = "Waiting for other jobs to end.";
    if (event.event === "compiled") describe(event);
    if (event.event === "run") ran(event);
    if (event.event === "weights") for (const [name, content] of Object.entries(event.files)) save(Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0)), name, "application/octet-stream");
  });
  const done = await own.done;
  if (own !== job) return;
  byId("stop").hidden = true;
  if (!done) status.textContent = "Not compiled.";
  else if (status.textContent === "Compiling.") status.textContent = "";
}

function describe(event) {
  byId("made").hidden = false;
  const { rows, columns, blocks, heads, parameters, nonzeros, distinct_blocks: distinct } = event.sizes;
  status.textContent = `${event.program} is a network of ${blocks} block${blocks === 1 ? "" : "s"}.`;
  const facts = [["H", `${rows} × ${columns}`], ["Blocks", blocks === 1 ? "1" : `${blocks}, ${distinct} of them different`], ["Heads", heads], ["Parameters", `${parameters}, ${nonzeros} not zero`], ["Error", "running on random data…"]];
  byId("facts").replaceChildren(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { "data-fact": name }, String(value)))));
  const colours = new Map();
  const colour = (name) => { if (!colours.has(name)) colours.set(name, colours.size % COLOURS); return colours.get(name); };
  const h = (places, label) => {
    const svg = d3.create("svg").attr("class", "h").attr("viewBox", `0 0 ${columns} ${rows}`).attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
    const names = [];
    for (const each of [...places].sort((a, b) => a.column - b.column)) {
      const share = `c${colour(each.name)}`;
      svg.append("rect").attr("class", share).attr("x", each.column + 0.04).attr("y", 0.04).attr("width", Math.max(0.1, each.width - 0.08)).attr("height", Math.max(0.1, each.rows - 0.08));
      names.push(make("span", { class: "value" }, make("i", { class: share }), `${each.name} ${each.rows} × ${each.width}`));
    }
    return make("div", { class: "h-state" }, make("p", { class: "h-label" }, label), svg.node(), make("p", { class: "values" }, ...names));
  };
  const head = (each, index) => make("li", { class: "head" }, make("span", { class: "tag" }, `head ${index + 1}`), " ",
    ...(each.reads.length ? ["reads ", ...each.reads.map((name) => make("span", { class: "value" }, make("i", { class: `c${colour(name)}` }), name))] : ["reads nothing"]),
    make("code", { class: "formula-text" }, each.formula));
  const block = (index) => {
    const each = event.blocks[index];
    if (!each) return make("p", { class: "see" }, `block ${index + 1}: too many to be drawn`);
    return make("div", { class: "block" }, make("h3", {}, `Block ${index + 1}`), make("ol", {}, ...each.heads.map(head)), h(each.after, "then H holds"));
  };
  const order = (parts) => parts.map((part) => (typeof part === "number" ? block(part) : make("div", { class: "times" }, make("p", { class: "h-label" }, part.times === 1 ? "once" : `${part.times} times, with the same weights`), ...order(part.blocks))));
  byId("blocks").replaceChildren(h(event.inputs, "H at the start holds"), ...order(event.order));
}

function ran(event) {
  const place = byId("facts").querySelector("[data-fact=Error]");
  if (event.error === null) { place.textContent = event.words; states = []; } else {
    place.textContent = `${number(event.error, 2)} against direct evaluation on random data, whose largest number was ${number(event.largest, 3)}`;
    place.dataset.error = event.error;
    states = event.states;
    sizes.show(event.sizes);
  }
  stateFigure.place.hidden = byId("steps").hidden = !states.length;
  sizes.place.hidden = event.error === null;
  if (states.length) { byId("block").max = states.length - 1; step(state.block); }
}

function step(block) {
  state.block = Math.max(0, Math.min(states.length - 1, Math.round(block)));
  writeState(state, DEFAULTS);
  byId("block").value = state.block;
  byId("block-now").textContent = `${state.block} of ${states.length - 1}`;
  byId("back").disabled = state.block === 0;
  byId("next").disabled = state.block === states.length - 1;
  stateFigure.show(states[state.block]);
}

byId("block").addEventListener("input", (event) => step(+event.target.value));
byId("back").addEventListener("click", () => step(state.block - 1));
byId("next").addEventListener("click", () => step(state.block + 1));
byId("controls").addEventListener("submit", (event) => { event.preventDefault(); compile(); });
byId("stop").addEventListener("click", () => { job?.stop(); byId("stop").hidden = true; status.textContent = "Stopped."; });
byId("weights").addEventListener("click", () => compile({ weights: true }));
byId("again").addEventListener("click", () => { state.seed += 1; writeState(state, DEFAULTS); compile(); });

text.value = state.program || example();
number_lines();
controls.show();
check().then(() => { if (!byId("build").disabled) compile(); });
