// Cells by what is in them: numbers and short formulas stay on a line, prose wants room.
for (const cell of document.querySelectorAll(".md-typeset table:not([class]) td")) {
  const words = cell.textContent.trim();
  if (words.length <= 24 && !/[a-z]{3}/i.test(words)) cell.classList.add("short");
  if (words.length > 40) cell.classList.add("prose");
}

// Outputs in columns, and drawings, are not folded. Code has its colours, they have none.
for (const code of document.querySelectorAll(".md-typeset pre > code")) {
  const columns = code.textContent.match(/\S {2,}\S|[─│►]/g) || [];
  if (!code.querySelector("span") && columns.length > 1) code.classList.add("aligned");
}

// A flag is not parted at its hyphens.
for (const code of document.querySelectorAll(".md-typeset code")) {
  if (!/-\w/.test(code.textContent)) continue;
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) {
    const parts = text.data.split(/((?<![\w-])--?[a-z][\w-]*)/);
    if (parts.length === 1) continue;
    text.replaceWith(...parts.map((part, index) => {
      if (index % 2 === 0) return part;
      const flag = document.createElement("span");
      flag.className = "flag";
      flag.textContent = part;
      return flag;
    }));
  }
}

// Formulas are typeset by KaTeX, from files of the site itself. Without scripts their sources show.
for (const element of document.querySelectorAll(".arithmatex")) {
  const source = element.textContent;
  const display = element.tagName === "DIV" || source.startsWith("\\[");
  const formula = source.replace(/^\s*\\[([]/, "").replace(/\\[)\]]\s*$/, "");
  try {
    katex.render(formula, element, { displayMode: display, throwOnError: true, strict: "ignore" });
  } catch (error) {
    element.classList.add("katex-error"); // the source is better than an error message
    element.textContent = source;
  }
}

// What stands right beside a formula, a comma or a bracket, stays on its line; long formulas must have a place to break.
// A phone's line is about twenty letters wide.
const LONG = 12;
for (const formula of document.querySelectorAll("span.arithmatex")) {
  const parts = [...formula.querySelectorAll(".katex-html > *")].map((part) => part.getBoundingClientRect().width);
  const letters = parts.reduce((sum, width) => sum + width, 0) / parseFloat(getComputedStyle(formula).fontSize);
  if (letters > LONG) continue;
  const { previousSibling: before, nextSibling: after } = formula;
  const start = before instanceof Text && before.data.match(/(?<!\S)\S{1,12}$|[^\s\w]+$/);
  const end = after instanceof Text && after.data.match(/^\S{1,12}(?!\S)|^[^\s\w]+/);
  if (!start && !end) continue;
  const together = document.createElement("span");
  together.className = "together";
  formula.replaceWith(together);
  if (start) before.data = before.data.slice(0, start.index);
  if (end) after.data = after.data.slice(end[0].length);
  together.append(start ? start[0] : "", formula, end ? end[0] : "");
}
