// Claims: the list with its verdicts, and one claim judged again while one watches.
import { FigureView, byId, make, number, readState, stream, trouble, words, writeState } from "./common.js";

const DEFAULTS = { claim: "", words: "", standing: "" };
const STANDINGS = { holds: ["holds", "✓"], "does-not-hold": ["does not hold", "✗"], "not-as-read": ["not as transcribed", "≠"], "not-in-ours": ["not in our networks", "∌"], undecided: ["undecided", "?"], failed: ["experiment failed", "!"], "not-run": ["not run", "–"] };
const OUTCOMES = { passes: "holds", refutes: "does-not-hold", undecided: "undecided" };
const state = readState(DEFAULTS);
const form = byId("filter");
const phone = matchMedia("(max-width: 46rem)");
let listed = [], job;

const badge = (standing, text) => make("span", { class: `badge ${standing}` }, make("span", { class: "sign", "aria-hidden": "true" }, STANDINGS[standing][1]), text ?? STANDINGS[standing][0]);

async function list() {
  try {
    const answer = await fetch("claims/list");
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.sentence);
    draw(found);
  } catch (error) {
    trouble(error.message);
  }
}

function draw(found) {
  byId("status").textContent = found.report ? `The report in this folder has ${found.judged} verdicts.` : "There is no report here yet: run any claim below, or all of them by descant reproduce.";
  byId("report").hidden = !found.report;
  listed = [];
  byId("papers").replaceChildren(...found.papers.map((paper) => {
    const items = paper.claims.map((claim) => {
      const button = make("button", { type: "button", class: "plain" }, words(claim.title));
      button.addEventListener("click", () => { open(claim); byId("one-title").focus(); });
      const item = make("li", { class: "claim", "data-id": claim.id }, badge(claim.standing), make("div", { class: "what" }, button, make("span", { class: "where" }, claim.id)));
      listed.push({ ...claim, item, text: `${claim.id} ${claim.plain}`.toLowerCase() });
      return item;
    });
    const held = paper.claims.filter((claim) => claim.standing === "holds").length;
    const judged = paper.claims.filter((claim) => claim.standing !== "not-run").length;
    const count = judged ? `${held} of ${judged} hold` : `${items.length} claim${items.length === 1 ? "" : "s"}`;
    // A phone shows the headings first: a hundred claims are twenty screens of it.
    return make("details", { class: "group", open: !phone.matches }, make("summary", {}, make("h2", {}, paper.name, make("span", { class: "counts" }, [count, paper.source].filter(Boolean).join(" · ")))), make("ul", { class: "claims" }, ...items));
  }));
  filter();
  const chosen = listed.find((claim) => claim.id === state.claim);
  if (chosen) open(chosen);
  else if (state.claim) trouble(`there is no claim ${state.claim}.`);
}

function filter() {
  const wanted = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const claim of listed) {
    const fits = (!state.standing || claim.standing === state.standing) && wanted.every((word) => claim.text.includes(word));
    claim.item.hidden = !fits;
    shown += fits;
  }
  const narrowed = wanted.length > 0 || Boolean(state.standing);
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = !group.querySelector("li.claim:not([hidden])");
    if (narrowed) group.open = true;
  }
  byId("found").textContent = shown === listed.length ? `${shown} claims` : `${shown} of ${listed.length} claims`;
}

function open(claim) {
  job?.stop();
  state.claim = claim.id;
  writeState(state, DEFAULTS);
  byId("one").hidden = false;
  byId("one-title").replaceChildren(words(claim.title));
  byId("one-id").textContent = claim.id;
  byId("one-badge").replaceChildren(badge(claim.standing));
  byId("one-statement").replaceChildren();
  byId("one-status").textContent = "";
  byId("one-page").hidden = !claim.page;
  if (claim.page) byId("one-page").href = claim.page;
  byId("one-result").hidden = byId("stop").hidden = byId("share").hidden = true;
  byId("run").disabled = false;
  byId("run").textContent = claim.standing === "not-run" ? "Run it" : "Run it again";
}

async function run() {
  trouble(null);
  byId("run").disabled = true;
  byId("stop").hidden = byId("share").hidden = false;
  byId("share").removeAttribute("value");
  byId("one-result").hidden = true;
  byId("one-status").textContent = "Starting.";
  const own = job = stream("claim", { id: state.claim }, hear);
  const done = await own.done;
  if (own !== job) return;
  byId("run").disabled = false;
  byId("stop").hidden = byId("share").hidden = true;
  if (!done) byId("one-status").textContent = "Stopped: nothing is decided.";
}

function hear(event) {
  const status = byId("one-status");
  if (event.event === "waiting") status.textContent = "Waiting for other jobs to end.";
  if (event.event === "begun") {
    byId("one-statement").replaceChildren(...event.statement.split("\n\n").map((part) => make("p", {}, words(part.replaceAll("`", "")))));
    status.textContent = `Begun; on one core it takes about ${Math.max(1, Math.round(event.seconds))} s.`;
  }
  if (event.event === "progress") {
    status.textContent = event.words;
    if (event.share !== null) byId("share").value = event.share;
  }
  if (event.event !== "judged") return;
  const before = listed.find((claim) => claim.id === state.claim)?.standing;
  const same = before === "not-run" ? "" : before === event.standing ? " As in the report." : ` The report says: ${STANDINGS[before][0]}.`;
  status.textContent = event.failure ? `The experiment failed: ${event.failure}` : `Judged in ${event.seconds.toFixed(1)} s: ${STANDINGS[event.standing][0]}.${same}`;
  byId("one-badge").replaceChildren(badge(event.standing));
  byId("one-result").hidden = false;
  const finite = (value, most) => (value === null ? "not finite" : number(value, most));
  const spread = (value, error) => finite(value, 5) + (error ? ` ± ${number(error, 2)}` : "");
  const small = (text) => (text ? [" ", make("span", { class: "exact" }, text)] : []);
  const ours = ({ relation, value, error, interval }) => {
    if (relation === "is") return [value ? "yes" : "no"];
    return [spread(value, interval ? 0 : error), ...small(interval && `(${finite(interval[0], 3)} to ${finite(interval[1], 3)})`)];
  };
  // What may be missing of it is told, too: without that, rounding above zero would pass for nothing.
  const wanted = ({ relation, bound, bound_error: error, tolerance }) => {
    if (relation === "is") return ["yes"];
    return [`${relation} ${spread(bound, error)}`, ...small(tolerance && `${relation === "≈" ? "resolution" : "tolerance"} ${number(tolerance, 3)}`)];
  };
  byId("checks").tBodies[0].replaceChildren(...event.checks.map((check) => make("tr", {}, make("td", {}, badge(OUTCOMES[check.outcome], check.outcome)), make("th", { scope: "row" }, words(check.name)), make("td", { class: "numeric" }, ...ours(check)), make("td", { class: "numeric" }, ...wanted(check)))));
  const place = byId("one-figures");
  place.replaceChildren(...event.figures.map((_, index) => {
    const copy = byId("figure-template").content.cloneNode(true).firstElementChild;
    copy.id = `claim-figure-${index}`;
    return make("div", {}, make("h3", {}, event.figures[index].title), copy);
  }));
  event.figures.forEach((data, index) => new FigureView(byId(`claim-figure-${index}`)).show(data));
}

if (!(state.standing in STANDINGS)) state.standing = "";
form.elements.words.value = state.words;
form.elements.standing.value = state.standing;
form.addEventListener("input", () => {
  state.words = form.elements.words.value;
  state.standing = form.elements.standing.value;
  writeState(state, DEFAULTS);
  filter();
});
form.addEventListener("submit", (event) => event.preventDefault());
byId("run").addEventListener("click", run);
byId("stop").addEventListener("click", () => job?.stop());
byId("close").addEventListener("click", () => { job?.stop(); state.claim = ""; writeState(state, DEFAULTS); byId("one").hidden = true; });
list();
