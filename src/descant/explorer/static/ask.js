// Ask: while a slider moves the curves follow; when it rests they get more points, and what takes a search is searched.
import { Controls, FigureView, TASK, ask, byId, digits, fitTask, formula, make, readState, stream, taskOf, trouble, unreached, writeState } from "./common.js";

const DEFAULTS = { ...TASK, heads: 2, axis: "n", log: false };
const state = readState(DEFAULTS);
const figure = new FigureView("curves");
const status = byId("status");
let asked, searching, again, last;

const question = (moving) => ({ task: taskOf(state), heads: state.heads, axis: state.axis, log: state.log, moving });

function fit() {
  fitTask(controls, state, "", "axis");
  controls.most("heads", state.d + 1);
}

const controls = new Controls(byId("controls"), state, (name, moving) => {
  fit();
  writeState(state, DEFAULTS);
  move(moving);
});

// One question at a time: what comes while one is under way waits, and only the latest of it is asked.
async function move(moving) {
  searching?.stop();
  if (asked) { again = moving; return; }
  asked = new AbortController();
  try {
    const answer = await ask("ask", question(moving), asked.signal);
    show(answer);
    trouble(null);
  } catch (error) {
    trouble(unreached(error));
  }
  asked = undefined;
  if (again !== undefined) {
    const next = again;
    again = undefined;
    move(next);
  } else if (moving) {
    clearTimeout(last);
    last = setTimeout(() => move(false), 250);
  } else search();
}

// Where inputs are not isotropic, the best heads are found by descent: points appear as they are found.
function search() {
  if (!shown?.left) return;
  searching = stream("ask", question(false), (event) => { if (event.event === "answer") show(event); });
}

let shown;
function show(answer) {
  shown = answer;
  figure.show(answer.figure);
  status.textContent = answer.left ? `Searching for the best heads: ${answer.left} points are left.` : "";
  byId("command").textContent = answer.command;
  const body = byId("table").tBodies[0];
  if (body.rows.length !== answer.rows.length) {
    body.replaceChildren(...answer.rows.map((row, index) => {
      const button = make("button", { type: "button", class: "plain" });
      button.addEventListener("click", () => explain(shown.rows[index]));
      return make("tr", { "data-name": row.name }, make("th", { scope: "row" }, button), make("td", { class: "numeric" }), make("td"));
    }));
  }
  answer.rows.forEach((row, index) => {
    const [name, value, how] = body.rows[index].cells;
    name.firstChild.textContent = row.label;
    value.textContent = row.risk === null ? "–" : digits(row.risk, row.error, 6);
    how.textContent = row.words;
  });
}

function explain(row) {
  byId("formula-title").textContent = row.label;
  byId("formula-about").textContent = row.about;
  const [place, symbols] = byId("formula").querySelectorAll(".formula");
  byId("formula").showModal();
  formula(place, row.formula);
  formula(symbols, shown.symbols);
}
byId("formula-close").addEventListener("click", () => byId("formula").close());
byId("controls").addEventListener("submit", (event) => event.preventDefault());

fit();
writeState(state, DEFAULTS);
move(false);
