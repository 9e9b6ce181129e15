// Before anything is drawn: the theme that was chosen last time.
document.documentElement.classList.add("js");
try { const theme = localStorage.getItem("descant-theme"); if (theme) document.documentElement.dataset.theme = theme; } catch {}
