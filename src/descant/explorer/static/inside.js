// Inside: all layers come at once, and are stepped through here.
import { Controls, FigureView, PARTS, TASK, byId, controlsOf, fitTask, make, prefixed, readState, stream, taskOf, trouble, writeState } from "./common.js";

const OWN = { ...Object.fromEntries(PARTS.map((name) => [`own-${name}`, TASK[name]])), "own-mean": 0 };
const DEFAULTS = { source: "", training: "", context: 0, layer: 0, own: false, ...OWN };
const TRAINING = { ...TASK, d: 3, n: 10, model: "lsa", layers: 2, heads: 1, solver: "adam", steps: 1500, lr: 0.02, batch: 256, seed: 0 };
const state = readState(DEFAULTS);
const [walk, fall, maps] = ["walk", "fall", "maps"].map((id) => new FigureView(id, { titled: true }));
const status = byId("status");
let found, job, wait;

function trainingOf(text) {
  const given = new URLSearchParams(text);
  const whole = { ...TRAINING };
  for (const [name, usual] of Object.entries(TRAINING)) if (given.has(name)) whole[name] = typeof usual === "number" ? +given.get(name) : given.get(name);
  const { model, layers, heads, solver, steps, lr, batch, seed } = whole;
  return { task: taskOf(whole), model, layers, heads, solver, steps, lr, batch, seed };
}

// What can be opened is known to the server; what the address names can be opened at once.
const select = byId("source");
const option = (value, text) => make("option", { value }, text);
function list(runs, networks) {
  const groups = [option("", "choose…")];
  if (state.training || state.source === "learn") groups.push(option("learn", "trained in the room Learn"));
  if (runs.length) { const group = make("optgroup", { label: "Runs" }); group.append(...runs.map((run) => option(`run:${run.name}`, `${run.name}: ${run.words}`))); groups.push(group); }
  if (networks.length) { const group = make("optgroup", { label: "Networks that came with Descant" }); group.append(...networks.map((name) => option(`network:${name}`, name))); groups.push(group); }
  if (state.source && !groups.some((each) => each.value === state.source || [...each.children].some((one) => one.value === state.source))) groups.push(option(state.source, state.source.replace(/^\w+:/, "")));
  select.replaceChildren(...groups);
  select.value = state.source;
}
list([], []);

const controls = new Controls(byId("controls"), state, (name, moving) => {
  fit();
  if (name === "source") state.layer = 0;
  writeState(state, DEFAULTS);
  clearTimeout(wait);
  wait = setTimeout(open, moving ? 250 : 0);
}, prefixed("own-"));

function fit() {
  byId("own-task").hidden = !state.own;
  fitTask(controls, state, "own-", null, found?.task.d ?? null);
}

function source() {
  if (state.source === "learn") return { training: trainingOf(state.training) };
  const [kind, ...name] = state.source.split(":");
  return { [kind]: name.join(":") };
}

async function open() {
  job?.stop();
  if (!state.source) { status.textContent = "Choose a network."; return; }
  trouble(null);
  status.textContent = "Opening.";
  const asked = { source: source(), seed: state.context };
  // Of how many inputs is known when the network has come; the server knows.
  if (state.own) asked.task = taskOf(state, "own-", found?.task.d);
  const own = job = stream("inside", asked, (event) => {
    if (event.event === "progress") status.textContent = `Training it again: ${event.words}.`;
    if (event.event === "waiting") status.textContent = "Waiting for other jobs to end.";
    if (event.event === "inside") show(event);
    if (event.event === "reading") read(event);
  });
  if (!(await own.done) && own === job && status.textContent === "Opening.") status.textContent = "";
}

function show(event) {
  found = event;
  if (!state.own) {
    Object.assign(state, controlsOf(event.task, "own-"));
    controls.show();
    fit();
  }
  const noise = event.sigma === null ? "" : `, noise level ${event.sigma.toPrecision(3)}`;
  status.textContent = `${event.title}. A context of ${event.task.n} tokens in ${event.task.d} dimension${event.task.d === 1 ? "" : "s"}${noise}; ${event.how}.`;
  const slider = byId("layer");
  slider.max = event.layers.length - 1;
  byId("steps").hidden = byId("more").hidden = false;
  fall.show(event.fall);
  byId("reading").hidden = false;
  byId("sentence").textContent = "Reading the weights.";
  byId("lines").replaceChildren();
  byId("read-figures").replaceChildren();
  step(state.layer);
}

// The sentence about the whole, those of the layers, and what else there is to say.
function read(event) {
  byId("sentence").textContent = event.sentence;
  byId("lines").replaceChildren(...event.lines.map((line, index) => make("li", index < event.layers ? { "data-layer": index + 1 } : {}, line)));
  byId("read-figures").replaceChildren(...event.figures.map((data, index) => {
    const copy = byId("figure-template").content.cloneNode(true).firstElementChild;
    copy.id = `read-figure-${index}`;
    copy.setAttribute("aria-label", data.title);
    return copy;
  }));
  event.figures.forEach((data, index) => new FigureView(byId(`read-figure-${index}`), { titled: true }).show(data));
  mark();
}

const mark = () => { for (const line of byId("lines").querySelectorAll("[data-layer]")) line.classList.toggle("now", +line.dataset.layer === state.layer); };

function step(layer) {
  if (!found) return;
  state.layer = Math.max(0, Math.min(found.layers.length - 1, Math.round(layer)));
  writeState(state, DEFAULTS);
  const now = found.layers[state.layer];
  byId("layer").value = state.layer;
  byId("layer-now").textContent = `${state.layer} of ${found.layers.length - 1}`;
  byId("back").disabled = state.layer === 0;
  byId("next").disabled = state.layer === found.layers.length - 1;
  mark();
  walk.show(now.walk);
  maps.place.hidden = !now.maps;
  if (now.maps) maps.show(now.maps);
}

byId("layer").addEventListener("input", (event) => step(+event.target.value));
byId("back").addEventListener("click", () => step(state.layer - 1));
byId("next").addEventListener("click", () => step(state.layer + 1));
byId("controls").addEventListener("submit", (event) => event.preventDefault());

fit();
controls.show();
// First what the address names: one process does both, one after the other.
async function begin() {
  if (state.source) await open();
  else status.textContent = "Looking for runs.";
  const found = stream("sources", {}, (event) => {
    if (event.event !== "sources") return;
    list(event.runs, event.networks);
    if (!state.source) status.textContent = `Choose a network: ${event.runs.length} run${event.runs.length === 1 ? "" : "s"}, ${event.networks.length} that came with Descant, or train one.`;
  });
  await found.done;
}
begin();
