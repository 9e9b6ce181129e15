// What all rooms share: the state in the address, controls, requests, streams of events, figures.

export const byId = (id) => document.getElementById(id);
export const number = globalThis.descantNumber;

// A number with no more digits than its standard error leaves; one that is exact has as many as are asked for.
export const digits = (value, error, most) => (error ? value.toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(+error.toPrecision(1)) + 1e-9)))) : number(value, most));
export const told = (value, error) => digits(value, error, 5) + (error ? ` ± ${number(error, 1)}` : "");

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// Trouble is told, in a place that is read aloud, and goes away when something works again.
export function trouble(sentence) {
  const place = byId("trouble");
  place.hidden = !sentence;
  place.textContent = sentence ?? "";
}

export const unreached = (error) => (error instanceof TypeError ? "the server can't be reached; is descant explore still running?" : error.message);

// The address holds whatever differs from the defaults.
export function readState(defaults) {
  const given = new URLSearchParams(location.search);
  const state = { ...defaults };
  for (const [name, usual] of Object.entries(defaults)) {
    if (!given.has(name)) continue;
    const text = given.get(name);
    if (typeof usual === "number") state[name] = Number.isFinite(+text) && text.trim() ? +text : usual;
    else if (typeof usual === "boolean") state[name] = text === "1";
    else state[name] = text;
  }
  return state;
}

export function query(state, defaults) {
  const found = new URLSearchParams();
  for (const [name, usual] of Object.entries(defaults)) {
    if (state[name] !== usual) found.set(name, typeof usual === "boolean" ? (state[name] ? "1" : "0") : state[name]);
  }
  return found.toString();
}

export function writeState(state, defaults) {
  const words = query(state, defaults);
  history.replaceState(null, "", location.pathname + (words ? `?${words}` : ""));
}

// Sliders with their numbers, choices and switches of a form; `changed(name, moving)` hears of every change.
export class Controls {
  constructor(form, state, changed, names = {}) {
    this.form = form;
    this.state = state;
    this.parts = new Map();
    for (const control of form.querySelectorAll(".control")) {
      const name = names[control.dataset.name] ?? control.dataset.name;
      const [range, digits] = [control.querySelector("input[type=range]"), control.querySelector("input[type=number]")];
      const other = control.querySelector("select, input[type=checkbox], input[type=text]");
      this.parts.set(name, { control, range, digits, other });
      if (range) {
        const hear = (source, moving) => {
          const value = Math.min(+range.max, Math.max(+range.min, +source.value));
          if (source.value.trim() === "" || !Number.isFinite(value)) return;
          // A number that is typed may lie between the steps of the slider, but things that are counted stay whole.
          state[name] = range.step === "1" ? Math.round(value) : value;
          if (source === range) digits.value = state[name];
          else range.value = state[name];
          changed(name, moving);
        };
        range.addEventListener("input", () => hear(range, true));
        range.addEventListener("change", () => hear(range, false));
        digits.addEventListener("change", () => { hear(digits, false); digits.value = state[name]; });
      } else if (other) {
        other.addEventListener("change", () => {
          state[name] = other.type === "checkbox" ? other.checked : other.value;
          changed(name, false);
        });
      }
    }
    this.show();
  }

  show() {
    for (const [name, { range, digits, other }] of this.parts) {
      if (!(name in this.state)) continue;
      if (range) {
        const value = Math.min(+range.max, Math.max(+range.min, +this.state[name]));
        this.state[name] = range.step === "1" ? Math.round(value) : value;
        range.value = digits.value = this.state[name];
      } else if (other?.type === "checkbox") other.checked = Boolean(this.state[name]);
      else if (other?.type === "text") other.value = this.state[name];
      else if (other) {
        if ([...other.options].some((option) => option.value === this.state[name])) other.value = this.state[name];
        else if (other.options.length) this.state[name] = other.value;
      }
    }
  }

  only(name, shown) {
    const part = this.parts.get(name);
    if (part) part.control.hidden = !shown;
  }

  most(name, value) {
    const part = this.parts.get(name);
    part.range.max = part.digits.max = value;
    if (this.state[name] > value) { this.state[name] = value; }
    part.range.value = part.digits.value = this.state[name];
  }
}

export const TASK = { d: 5, n: 20, mean: 1, spectrum: "condition", condition: 1, exponent: 1, eigenvalues: "", law: "fixed", noise: 0.5, second: 3 };
export const PARTS = Object.keys(TASK).filter((name) => name !== "d");
export const prefixed = (prefix) => Object.fromEntries(PARTS.map((name) => [name, prefix + name]));

export function taskOf(state, prefix = "", d = state.d) {
  const at = (name) => state[prefix + name];
  const levels = at("law") === "levels" ? [at("noise"), at("second")] : [at("noise")];
  const spectrum = { power: `power:${at("exponent")}`, own: at("eigenvalues") }[at("spectrum")] ?? "";
  return { d, n: at("n"), mean: at("mean"), condition: spectrum ? 1 : at("condition"), spectrum, law: at("law"), levels };
}

// The same the other way: what the controls have to be at for a task of the server.
export function controlsOf({ n, mean, condition, spectrum, law, levels }, prefix = "") {
  const power = spectrum.startsWith("power:");
  const found = {
    n, mean, condition, law, noise: levels[0], second: levels[1] ?? 3,
    spectrum: power ? "power" : spectrum ? "own" : "condition", exponent: power ? +spectrum.slice(6) : 1, eigenvalues: power ? "" : spectrum,
  };
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [prefix + name, value]));
}

// Controls that mean something for the law and the spectrum that are chosen; `axis` is the choice of what is across.
export function fitTask(controls, state, prefix = "", axis = null, d = state.d) {
  const kind = state[`${prefix}spectrum`];
  if (kind === "own" && d) {
    const given = state[`${prefix}eigenvalues`].split(",").filter((part) => part.trim());
    const fitted = Array.from({ length: d }, (_, index) => given[index] ?? given.at(-1) ?? "1").join(",");
    if (given.length !== d) { state[`${prefix}eigenvalues`] = fitted; controls.show(); }
  }
  controls.only(`${prefix}second`, state[`${prefix}law`] === "levels");
  for (const [name, wanted] of [["condition", "condition"], ["exponent", "power"], ["eigenvalues", "own"]]) controls.only(prefix + name, kind === wanted);
  const options = axis ? controls.parts.get(axis).other.options : [];
  for (const option of options) {
    option.disabled = (option.value === "condition" && kind !== "condition") || (option.value === "d" && kind === "own");
    if (option.disabled && state[axis] === option.value) { state[axis] = "n"; controls.show(); }
  }
}

// A link of another site opens a page, but begins no job: that takes a click, or a key, of whoever sits here.
const linked = "linked" in document.body.dataset;
let allow;
const allowed = linked ? new Promise((done) => { allow = done; }) : Promise.resolve();
if (linked) {
  const begin = (event) => {
    if (!event.isTrusted || !event.target.closest?.("main button, main input, main select, main textarea")) return;
    byId("linked").hidden = true;
    allow?.();
    allow = undefined;
  };
  for (const kind of ["click", "input", "change"]) document.addEventListener(kind, begin, { capture: true });
}
export function permission() {
  if (allow) byId("linked").hidden = false;
  return allowed;
}

// A question that is answered at once; sentences of the server come as errors.
export async function ask(path, body, signal) {
  const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
  const kind = answer.headers.get("content-type") ?? "";
  if (!answer.ok) throw new Error(kind.includes("json") ? (await answer.json()).sentence : `the server answers ${answer.status}.`);
  return kind.includes("json") ? answer.json() : answer.blob();
}

// A job of the server: its events, until it ends or `stop` is called. The server ends it when this page goes.
export function stream(job, body, hear) {
  const control = new AbortController();
  const run = async () => {
    let ended = false;
    await permission();
    if (control.signal.aborted) return;
    const answer = await fetch(`jobs/${job}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal: control.signal });
    if (!answer.ok) throw new Error((await answer.json()).sentence);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        if (!part.startsWith("data: ")) continue;
        const event = JSON.parse(part.slice(6));
        if (control.signal.aborted) return;
        if (event.event === "failed") throw new Error(event.sentence);
        if (event.event === "done") { ended = true; continue; }
        hear(event);
      }
    }
    if (!ended) throw new Error("the server has ended; start descant explore again.");
  };
  const done = run().then(() => true, (error) => {
    if (error.name === "AbortError" || control.signal.aborted) return false;
    trouble(unreached(error));
    return false;
  });
  return { done, stop: () => control.abort() };
}

export function save(content, name, kind) {
  const blob = content instanceof Blob ? content : new Blob([content], { type: kind });
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function csv(data) {
  const cell = (value) => (/[",\n]/.test(String(value ?? "")) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
  const lines = [];
  for (const panel of data.panels) {
    if (panel.kind === "heat") {
      panel.values.forEach((row, i) => row.forEach((value, j) => lines.push([panel.title, panel.rows[i], panel.columns[j], value, ""])));
    } else {
      for (const series of panel.series) for (const row of series.rows) lines.push([panel.title, series.label, row[0], row[1], row[4] ?? ""]);
      for (const line of panel.baselines) lines.push([panel.title, line.label, "", line.y, ""]);
    }
  }
  const head = data.panels.some((panel) => panel.kind === "heat") ? ["panel", "row", "column", "value", ""] : ["panel", "series", "x", "y", "standard_error"];
  return [head, ...lines].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

// A figure of the page: drawn, drawn again, and taken along as PNG, SVG, CSV or Python.
export class FigureView {
  constructor(place, { titled = false } = {}) {
    this.place = typeof place === "string" ? byId(place) : place;
    this.title = titled ? make("h3", { class: "title" }) : null;
    this.see = titled ? make("p", { class: "see" }) : null;
    if (titled) this.place.prepend(this.title, this.see);
    this.live = this.place.querySelector(".live");
    for (const button of this.place.querySelectorAll("[data-as]")) button.addEventListener("click", () => this.take(button.dataset.as, button));
  }

  show({ python, ...data }) {
    this.data = data;
    this.python = python;
    if (this.title) {
      this.title.textContent = data.title;
      this.see.textContent = data.see ?? "";
      this.see.hidden = !data.see;
    }
    if (!this.drawn) {
      this.live.replaceChildren();
      this.drawn = descantFigure(this.live, data);
      this.place.querySelector("figcaption").hidden = false;
    } else this.drawn.update(data);
    const notes = [];
    if (data.errors) notes.push("Bars and bands: ± one standard error.");
    if (data.dropped) notes.push(`${data.dropped} ${data.dropped === 1 ? "value lies" : "values lie"} beyond the axes or can’t stand on them.`);
    this.place.querySelector(".notes").textContent = notes.join(" ");
    this.place.querySelector("[data-as=python]").hidden = !this.python;
  }

  async take(kind, button) {
    const name = `descant-${this.data.name}`;
    if (kind === "csv") return save(csv(this.data), `${name}.csv`, "text/csv");
    if (kind === "python") return showCode(this.python);
    button.disabled = true;
    try {
      save(await ask("picture", { figure: this.data, suffix: kind }), `${name}.${kind}`);
    } catch (error) {
      trouble(unreached(error));
    } finally {
      button.disabled = false;
    }
  }
}

export function showCode(text) {
  byId("code-text").textContent = text;
  byId("code").showModal();
}
byId("code-close").addEventListener("click", () => byId("code").close());

// Text with $formulas$ between words.
export function words(text) {
  const place = document.createDocumentFragment();
  text.split("$").forEach((part, index) => {
    if (index % 2 === 0) { place.append(part); return; }
    const span = make("span", { class: "math inline" });
    try { katex.render(part, span, { throwOnError: true, strict: "ignore" }); } catch { span.textContent = part; }
    place.append(span);
  });
  return place;
}

export function formula(place, text) {
  katex.render(text, place, { displayMode: true, throwOnError: false, strict: "ignore" });
}
