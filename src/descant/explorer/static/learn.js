// Learn: train, watch, then change the task and see what becomes of it.
import { Controls, FigureView, PARTS, TASK, byId, fitTask, number, prefixed, query, readState, stream, taskOf, told, trouble, writeState } from "./common.js";

const TRAINING = { ...TASK, d: 3, n: 10, model: "lsa", layers: 2, heads: 1, solver: "adam", steps: 1500, lr: 0.02, batch: 256, seed: 0 };
const OTHER = { ...Object.fromEntries(PARTS.map((name) => [`other-${name}`, TRAINING[name]])), across: "n" };
const DEFAULTS = { ...TRAINING, ...OTHER, trained: false };
const COUNTS = { lsa: ["heads"], "yq-lsa": ["heads"], ltb: [], "gd++": ["layers"], diag: ["layers", "heads"], full: ["layers", "heads"], softmax: ["layers"] };
const state = readState(DEFAULTS);
const [curve, shifted] = [new FigureView("curve"), new FigureView("shifted")];
const status = byId("status");
let job, look, wait, updates, began;

export function training(of) {
  const { model, layers, heads, solver, steps, lr, batch, seed } = of;
  return { task: taskOf(of), model, layers, heads, solver, steps, lr, batch, seed };
}

const controls = new Controls(byId("controls"), state, (name, moving) => {
  fit();
  // Another training: what was trained is not what the controls say.
  if (!moving) halt("Changed: press Train.");
  state.trained = false;
  for (const part of PARTS) state[`other-${part}`] = state[part];
  others.show();
  byId("elsewhere").hidden = byId("after").hidden = true;
  writeState(state, DEFAULTS);
});
const others = new Controls(byId("other"), state, (name, moving) => {
  fit();
  writeState(state, DEFAULTS);
  clearTimeout(wait);
  wait = setTimeout(elsewhere, moving ? 300 : 0);
}, prefixed("other-"));

function fit() {
  for (const count of ["layers", "heads"]) controls.only(count, COUNTS[state.model].includes(count));
  for (const name of ["steps", "lr", "batch"]) controls.only(name, state.solver === "adam");
  fitTask(controls, state);
  fitTask(others, state, "other-", "across");
}

function halt(words) {
  job?.stop();
  look?.stop();
  look = undefined;
  rest(words);
}

function rest(words) {
  job = undefined;
  byId("stop").hidden = byId("share").hidden = true;
  byId("train").disabled = false;
  if (words) status.textContent = words;
}

async function train() {
  halt();
  trouble(null);
  byId("train").disabled = true;
  byId("stop").hidden = byId("share").hidden = false;
  byId("elsewhere").hidden = byId("after").hidden = true;
  status.textContent = "Getting ready: the first time, programs have to be compiled.";
  updates = 0;
  const own = job = stream("learn", training(state), hear);
  const done = await own.done;
  if (own !== job) return;
  rest(done ? undefined : "Stopped.");
}

function hear(event) {
  if (event.event === "waiting") { status.textContent = "Waiting for other trainings to end."; return; }
  updates += 1;
  if (updates === 2) began = performance.now();
  curve.show(event.figure);
  byId("share").value = event.share;
  const rate = updates > 5 ? `, ${Math.round((1000 * (updates - 2)) / (performance.now() - began))} updates a second` : "";
  status.textContent = `${event.words}: risk ${told(event.risk, event.error)}${rate}`;
  document.body.dataset.updates = updates;
  if (event.event !== "trained") return;
  const error = event.error ? "" : ", exact";
  const least = event.optimum === null ? "" : ` The least of its class is ${number(event.optimum, 5)}: ${number(100 * (event.risk / event.optimum - 1), 2)}% above it.`;
  status.textContent = `Trained (${event.words}): its risk is ${told(event.risk, event.error)}${error}.${least}`;
  status.dataset.risk = event.risk;
  state.trained = true;
  writeState(state, DEFAULTS);
  byId("after").hidden = byId("elsewhere").hidden = false;
  byId("weights").href = `models/${event.model}`;
  byId("look").href = `inside?${new URLSearchParams({ source: "learn", training: query(state, TRAINING) })}`;
  elsewhere();
}

function elsewhere() {
  if (!state.trained) return;
  look?.stop();
  byId("other-status").textContent = "Measuring.";
  const asked = { source: { training: training(state) }, task: taskOf(state, "other-"), axis: state.across };
  look = stream("elsewhere", asked, (event) => {
    if (event.event !== "elsewhere") return;
    shifted.show(event.figure);
    const best = event.best === null ? "" : ` The best of its class on this task has ${number(event.best, 5)}.`;
    byId("other-status").textContent = event.risk === null ? "On this task it explodes." : `On this task its risk is ${told(event.risk, event.error)}.${best} The oracle has ${told(event.oracle, event.oracle_error)}.`;
  });
}

byId("controls").addEventListener("submit", (event) => { event.preventDefault(); train(); });
byId("other").addEventListener("submit", (event) => event.preventDefault());
byId("stop").addEventListener("click", () => halt("Stopped."));
fit();
// A link to what was trained trains it again: the same seed ends in the same weights.
if (state.trained) train();
