// Equations, theme, filters and copy buttons. The pages are readable without any of it.
(() => {
  "use strict";
  const root = document.documentElement;

  function typeset() {
    for (const element of document.querySelectorAll(".math")) {
      const source = element.textContent;
      try {
        katex.render(source, element, { displayMode: element.classList.contains("display"), throwOnError: true, strict: "ignore" });
      } catch (error) {
        element.textContent = source; // the source is better than an error message
      }
    }
    fit();
    window.addEventListener("resize", fit);
  }

  // A formula that is wider than its line scrolls by itself, and the keyboard can reach it to do so.
  function fit() {
    for (const element of document.querySelectorAll(".math")) {
      element.classList.remove("wide");
      const room = element.closest("p, dd, li, td, th, h1, h2, h3, a")?.clientWidth || Infinity;
      element.classList.toggle("wide", element.matches(".inline") && element.getBoundingClientRect().width > room);
      if (element.scrollWidth > element.clientWidth && element.matches(".display, .wide")) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  }

  function theming() {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const label = () => {
      button.querySelector("span").textContent = dark() ? "Light theme" : "Dark theme";
      document.dispatchEvent(new Event("themed"));
    };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("descant-theme", root.dataset.theme); } catch { /* it lasts as long as the page, then */ }
      label();
    });
    system.addEventListener("change", label);
    button.hidden = false;
    label();
  }

  function filtering() {
    const form = document.getElementById("filters");
    if (!form) return;
    const claims = [...document.querySelectorAll("li.claim")];
    const apply = () => {
      const { verdict, paper, whose, words } = Object.fromEntries(new FormData(form));
      const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const claim of claims) {
        const matches = (!verdict || claim.dataset.verdict === verdict) && (!paper || claim.dataset.paper === paper)
          && (!whose || claim.dataset.whose === whose)
          && wanted.every((word) => claim.dataset.words.includes(word));
        claim.hidden = !matches;
        shown += matches;
      }
      for (const group of document.querySelectorAll(".group, .part")) group.hidden = !group.querySelector("li.claim:not([hidden])");
      document.getElementById("found").textContent = shown === claims.length ? `${shown} claims` : `${shown} of ${claims.length} claims`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  async function write(text, element) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // not allowed here, or not there at all
      const range = document.createRange();
      range.selectNodeContents(element);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      if (!document.execCommand("copy")) throw new Error("copying is not allowed");
    }
  }

  function copying() {
    for (const button of document.querySelectorAll(".copy")) {
      const words = button.querySelector("span");
      button.addEventListener("click", async () => {
        const element = document.getElementById(button.dataset.copy);
        try {
          await write(element.textContent, element);
          words.textContent = "Copied";
        } catch {
          words.textContent = "Select it";
        }
        setTimeout(() => { words.textContent = "Copy"; }, 1500);
      });
    }
  }

  typeset();
  theming();
  filtering();
  copying();
})();
