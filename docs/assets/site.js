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
