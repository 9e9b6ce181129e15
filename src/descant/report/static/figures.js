// Figures: Observable Plot on the values that stand in the page. If anything goes wrong, the still picture is shown instead.
(() => {
  "use strict";
  const SERIES = (index) => `var(--series-${index})`;
  const SYMBOLS = ["circle", "square", "triangle", "diamond2", "star", "wye", "cross"];
  const NARROWEST = { plot: 300, heat: 210, map: 270 };
  const BAND_FROM = 40; // points from which standard errors are a band
  const DASHES = { dashed: "6 4" };

  const superscript = (text) => [...String(text)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");
  function number(value, digits = 5) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e-4 && size < 1e6) return String(+value.toPrecision(digits)).replace("-", "−");
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const front = String(+mantissa).replace("-", "−");
    return `${front === "1" ? "" : front === "−1" ? "−" : `${front}×`}10${superscript(+exponent)}`;
  }

  // Positions and texts of ticks; on a logarithmic axis whole powers of ten, as soon as there are enough of them.
  function ticks(axis, room) {
    if (axis.ticks.length) {
      const words = new Map(axis.ticks);
      return { ticks: [...words.keys()], tickFormat: (value) => words.get(value) ?? "" };
    }
    const count = Math.max(3, Math.floor(room / 70));
    // No halves between whole things, such as heads or layers.
    const fits = (value) => !axis.whole || Number.isInteger(value);
    if (!axis.log) return { ticks: d3.ticks(...axis.limits, Math.min(count, 10)).filter(fits), tickFormat: (value) => number(value) };
    const [low, high] = axis.limits.map(Math.log10);
    const powers = d3.range(Math.ceil(low), Math.floor(high) + 1);
    const within = (value) => value >= axis.limits[0] && value <= axis.limits[1];
    const digits = d3.range(Math.floor(low), Math.ceil(high) + 1).flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power)).filter(within);
    // Less than two powers, or little more than one step of 1, 2, 5: numbers as on a linear axis.
    const chosen = powers.length >= 3
      ? powers.filter((_, index) => index % Math.ceil(powers.length / count) === 0).map((power) => 10 ** power)
      : digits.length > 2 ? digits : d3.ticks(...axis.limits, 5);
    // All as powers, or none.
    const power = powers.length >= 3 && (axis.limits[0] < 1e-3 || axis.limits[1] > 1e4);
    const words = (value) => (value === 1 ? "1" : `10${superscript(Math.round(Math.log10(value)))}`);
    return { ticks: chosen, tickFormat: power ? words : (value) => number(value, 2) };
  }

  function described(panel, series, row) {
    const [x, y, , , error] = row;
    const words = new Map(panel.x.ticks);
    const spread = error === null ? " ± not finite" : error ? ` ± ${number(error, 2)}` : "";
    return `${series.label}\n${panel.x.label}: ${words.get(x) ?? number(x)}\n${panel.y.label}: ${number(y, 6)}${spread}`;
  }

  function seriesMarks(panel, series) {
    const colour = SERIES(series.colour);
    const { rows, style } = series;
    const x = (row) => (style === "bars" ? (row[5] + row[6]) / 2 : row[0]);
    const marks = [];
    if (style === "bars") {
      const base = panel.y.log ? panel.y.limits[0] : 0;
      marks.push(Plot.rect(rows, { x1: (row) => row[5], x2: (row) => row[6], y1: base, y2: (row) => row[1], fill: colour, fillOpacity: 0.85, inset: 0.5 }));
    }
    const uncertain = rows.filter((row) => row[4]);
    if (rows.length > BAND_FROM && uncertain.length && (style === "line" || style === "dashed")) {
      marks.push(Plot.areaY(rows, { x, y1: (row) => row[2], y2: (row) => row[3], fill: colour, fillOpacity: 0.2 }));
    } else if (uncertain.length) {
      marks.push(Plot.ruleX(uncertain, { x, y1: (row) => row[2], y2: (row) => row[3], stroke: style === "bars" ? "currentColor" : colour, strokeWidth: 1.4 }));
    }
    if (style === "line" || style === "both" || style === "dashed") {
      marks.push(Plot.line(rows, { x, y: (row) => row[1], stroke: colour, strokeWidth: 2, strokeDasharray: DASHES[style], curve: series.curved ? "monotone-x" : "linear" }));
    }
    if (style === "points" || style === "both") {
      marks.push(Plot.dot(rows, { x, y: (row) => row[1], symbol: SYMBOLS[series.symbol], fill: colour, stroke: "var(--card)", strokeWidth: 0.75, r: series.size }));
    }
    return marks;
  }

  // What slanted words need to the left of the frame, so that the first of them are not cut off.
  function overhang(axis, { ticks, tickFormat }, width) {
    const [low, high] = axis.limits.map((limit) => (axis.log ? Math.log(limit) : limit));
    return d3.max(ticks, (value) => {
      const share = ((axis.log ? Math.log(value) : value) - low) / (high - low);
      return (5.2 * tickFormat(value).length + 6 - share * (width - 16)) / Math.max(0.2, 1 - share);
    }) ?? 0;
  }

  function plot(panel, width, hidden) {
    const series = panel.series.filter((each) => !hidden.has(`${each.style} ${each.label}`));
    const baselines = panel.baselines.filter((each) => !hidden.has(`baseline ${each.label}`));
    const height = Math.round(Math.min(380, Math.max(250, width * 0.66)));
    const yTicks = ticks(panel.y, height * 1.1);
    const longest = d3.max(yTicks.ticks, (value) => yTicks.tickFormat(value).length) ?? 0;
    const beside = Math.min(width * 0.3, 22 + 6.6 * longest);
    const xTicks = ticks(panel.x, width);
    const letters = d3.sum(xTicks.ticks, (value) => xTicks.tickFormat(value).length + 2);
    const steep = panel.x.ticks.length > 0 && letters * 6.4 > width - beside;
    const marginLeft = steep ? Math.max(beside, Math.min(width * 0.4, overhang(panel.x, xTicks, width))) : beside;
    const deepest = d3.max(xTicks.ticks, (value) => xTicks.tickFormat(value).length) ?? 0;
    const scale = (axis) => ({ type: axis.log ? "log" : "linear", domain: axis.limits, label: null });
    const points = series.flatMap((each) => each.rows.map((row) => ({
      x: each.style === "bars" ? (row[5] + row[6]) / 2 : row[0], y: row[1], colour: SERIES(each.colour), text: described(panel, each, row),
    })));
    const spots = [...points, ...baselines.map((baseline) => ({
      x: panel.x.limits[1], y: baseline.y, colour: SERIES(baseline.colour), text: `${baseline.label}\n${panel.y.label}: ${number(baseline.y, 6)}`,
    }))];
    return Plot.plot({
      width, height, marginLeft, marginRight: 16, marginTop: 28, marginBottom: steep ? 52 + Math.min(70, 4.2 * deepest) : 46,
      x: scale(panel.x), y: scale(panel.y), style: { background: "transparent", overflow: "visible" },
      marks: [
        panel.shaded ? Plot.rect([panel.shaded], { x1: (d) => d[0], x2: (d) => d[1], y1: panel.y.limits[0], y2: panel.y.limits[1], fill: "currentColor", fillOpacity: 0.07 }) : null,
        Plot.gridY(yTicks.ticks, { stroke: "var(--rule)", strokeOpacity: 1 }),
        Plot.axisY(yTicks.ticks, { text: yTicks.tickFormat, tickSize: 0, label: null, color: "var(--soft)" }),
        Plot.axisX(xTicks.ticks, { text: xTicks.tickFormat, tickSize: 5, label: null, color: "var(--soft)", ...(steep ? { tickRotate: -30 } : {}) }),
        Plot.text([`↑ ${panel.y.label}`], { frameAnchor: "top-left", dx: -marginLeft, dy: -22, text: (d) => d, fill: "var(--soft)", lineAnchor: "top", lineWidth: width / 11 }),
        Plot.text([`${panel.x.label} →`], { frameAnchor: "bottom-right", dy: steep ? 48 + Math.min(70, 4.2 * deepest) : 40, text: (d) => d, fill: "var(--soft)", textAnchor: "end" }),
        Plot.ruleY([panel.y.limits[0]], { stroke: "var(--soft)", strokeWidth: 1 }),
        ...series.flatMap((each) => seriesMarks(panel, each)),
        // Dots on top, so that a curve that lies on its baseline shows both.
        ...baselines.map((baseline) => Plot.ruleY([baseline.y], { stroke: SERIES(baseline.colour), strokeWidth: 2, strokeDasharray: baseline.dash.join(" ") })),
        crosses((panel.failed ?? []).map((x) => ({ x, y: panel.y.limits[0] }))),
        Plot.dot(points, Plot.pointer({ x: "x", y: "y", r: 6, stroke: (d) => d.colour, strokeWidth: 2, maxRadius: 40 })),
        Plot.tip(spots, Plot.pointer({ x: "x", y: "y", title: "text", maxRadius: 40, fontSize: 12, lineHeight: 1.4, lineWidth: 22, textPadding: 9, fill: "var(--card)", stroke: "var(--soft)" })),
      ],
    });
  }

  // What a colour of the theme is right now.
  function resolved(colour) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = colour;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  function heat(panel, width) {
    const shades = d3.piecewise(d3.interpolateRgb, [0, 1, 2, 3, 4].map((index) => resolved(`var(--heat-${index})`)));
    const [rows, columns] = [panel.rows, panel.columns];
    const cells = panel.values.flatMap((values, row) => values.map((value, column) => ({ row, column, value })));
    const marginLeft = 14 + 6.8 * (d3.max(rows, (name) => name.length) ?? 1);
    const longest = d3.max(columns, (name) => name.length) ?? 1;
    const size = Math.max(8, Math.min(46, (width - marginLeft - 8) / columns.length, Math.max(16, 420 / rows.length)));
    const steep = longest * 7 > size;
    const marginTop = steep ? 14 + 5.2 * longest : 24;
    const every = (names) => d3.range(0, names.length, Math.max(1, Math.ceil(15 / size)));
    const fill = (value) => (value === null ? "transparent" : shades((value / panel.limit + 1) / 2));
    const ink = (value) => (value !== null && d3.lab(fill(value)).l > 55 ? "#15181d" : "#ffffff");
    const marks = [
      Plot.cell(cells, { x: "column", y: "row", fill: (d) => fill(d.value), inset: 0.5, rx: 2 }),
      Plot.axisX(every(columns), { anchor: "top", tickFormat: (index) => columns[index], tickSize: 0, label: null, color: "var(--soft)", ...(steep ? { tickRotate: -45 } : {}) }),
      Plot.axisY(every(rows), { tickFormat: (index) => rows[index], tickSize: 0, label: null, color: "var(--soft)" }),
    ];
    if (size >= 38) marks.push(Plot.text(cells, { x: "column", y: "row", text: (d) => (d.value === null ? "–" : number(d.value, 2)), fill: (d) => (d.value === null ? "var(--soft)" : ink(d.value)), fontSize: 11 }));
    marks.push(Plot.tip(cells, Plot.pointer({
      x: "column", y: "row", fontSize: 12, lineHeight: 1.4, lineWidth: 22, fill: "var(--card)", stroke: "var(--soft)",
      title: (d) => `${rows[d.row]}, ${columns[d.column]}\n${d.value === null ? "not finite" : number(d.value, 6)}`,
    })));
    return Plot.plot({
      width: marginLeft + size * columns.length + 8, height: marginTop + size * rows.length + 4, marginLeft, marginTop, marginRight: 8, marginBottom: 4,
      x: { domain: d3.range(columns.length), padding: 0 }, y: { domain: d3.range(rows.length), padding: 0 }, color: { type: "identity" },
      style: { background: "transparent", overflow: "visible" }, marks,
    });
  }

  function crosses(places) {
    return Plot.dot(places, { x: "x", y: "y", symbol: "times", r: 4, stroke: "currentColor", strokeWidth: 1.6 });
  }

  // A number over two axes by colour, or which of several things is where; contour lines; crosses where a point failed.
  function map(panel, width, hidden) {
    const shades = d3.piecewise(d3.interpolateRgb, [0, 1, 2, 3, 4].map((index) => resolved(`var(--scale-${index})`)));
    const share = (panel.colour.log ? d3.scaleLog : d3.scaleLinear)(panel.colour.limits, [0, 1]).clamp(true);
    const named = panel.names.length > 0;
    const fill = (value) => (named ? SERIES(value % 8) : shades(share(value)));
    const wordsX = new Map(panel.x.ticks), wordsY = new Map(panel.y.ticks);
    const failed = new Set(panel.failed.map(([row, column]) => `${row} ${column}`));
    const cells = panel.values.flatMap((values, row) => values.map((value, column) => ({ row, column, value, x: panel.columns[column], y: panel.rows[row] })));
    const shown = cells.filter((cell) => cell.value !== null && !(named && hidden.has(`bars ${panel.names[cell.value]}`)));
    const described = ({ row, column, value, x, y }) => [
      `${panel.x.label}: ${wordsX.get(x) ?? number(x)}`, `${panel.y.label}: ${wordsY.get(y) ?? number(y)}`,
      `${panel.colour.label}: ${value === null ? (failed.has(`${row} ${column}`) ? "failed" : "none") : named ? panel.names[value] : number(value, 6)}${panel.errors[row]?.[column] ? ` ± ${number(panel.errors[row][column], 2)}` : ""}`,
      ...(panel.theory[row]?.[column] != null ? [`exact theory: ${number(panel.theory[row][column], 6)}`] : []),
    ].join("\n");
    const height = Math.round(Math.min(420, Math.max(230, width * 0.72)));
    const yTicks = ticks(panel.y, height), xTicks = ticks(panel.x, width);
    // Of many words on an axis only some.
    for (const [axis, room] of [[yTicks, height / 16], [xTicks, width / 20]]) axis.ticks = axis.ticks.filter((_, index) => index % Math.ceil(axis.ticks.length / room) === 0);
    const longest = d3.max(yTicks.ticks, (value) => yTicks.tickFormat(value).length) ?? 0;
    const marginLeft = Math.min(width * 0.4, 22 + 6.6 * longest);
    const letters = d3.sum(xTicks.ticks, (value) => xTicks.tickFormat(value).length + 2);
    const steep = panel.x.ticks.length > 0 && letters * 6.4 > width - marginLeft;
    const deepest = Math.min(70, 4.2 * (d3.max(xTicks.ticks, (value) => xTicks.tickFormat(value).length) ?? 0));
    const contours = hidden.has("contour exact theory") ? [] : panel.contours;
    const lines = contours.flatMap(({ lines }) => lines);
    const labels = contours.map(({ text, lines }) => { const line = d3.greatest(lines, (each) => each.length); return [...line[Math.floor(line.length / 2)], text]; });
    const drawn = (options) => lines.map((line) => Plot.line(line, { x: (d) => d[0], y: (d) => d[1], ...options }));
    const scale = (axis) => ({ type: axis.log ? "log" : "linear", domain: axis.limits, label: null });
    return Plot.plot({
      width, height, marginLeft, marginRight: 12, marginTop: 28, marginBottom: steep ? 52 + deepest : 46,
      x: scale(panel.x), y: scale(panel.y), color: { type: "identity" }, style: { background: "transparent", overflow: "visible" },
      marks: [
        Plot.rect(shown, { x1: (d) => panel.across[d.column], x2: (d) => panel.across[d.column + 1], y1: (d) => panel.up[d.row], y2: (d) => panel.up[d.row + 1], fill: (d) => fill(d.value), inset: -0.3 }),
        Plot.axisY(yTicks.ticks, { text: yTicks.tickFormat, tickSize: 3, label: null, color: "var(--soft)" }),
        Plot.axisX(xTicks.ticks, { text: xTicks.tickFormat, tickSize: 4, label: null, color: "var(--soft)", ...(steep ? { tickRotate: -30 } : {}) }),
        Plot.text([`↑ ${panel.y.label}`], { frameAnchor: "top-left", dx: -marginLeft, dy: -22, text: (d) => d, fill: "var(--soft)", lineAnchor: "top", lineWidth: width / 11 }),
        Plot.text([`${panel.x.label} →`], { frameAnchor: "bottom-right", dy: steep ? 48 + deepest : 40, text: (d) => d, fill: "var(--soft)", textAnchor: "end" }),
        ...drawn({ stroke: "var(--card)", strokeWidth: 3, strokeOpacity: 0.6 }),
        ...drawn({ stroke: "currentColor", strokeWidth: 1.2 }),
        Plot.text(labels, { x: (d) => d[0], y: (d) => d[1], text: (d) => d[2], fill: "currentColor", stroke: "var(--card)", strokeWidth: 4, fontSize: 11 }),
        crosses(cells.filter((cell) => failed.has(`${cell.row} ${cell.column}`))),
        Plot.tip(cells, Plot.pointer({ x: "x", y: "y", title: described, maxRadius: 60, fontSize: 12, lineHeight: 1.4, lineWidth: 22, textPadding: 9, fill: "var(--card)", stroke: "var(--soft)" })),
      ],
    });
  }

  function swatch(entry) {
    const colour = SERIES(entry.colour);
    const shape = { circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond2: d3.symbolDiamond2, star: d3.symbolStar, wye: d3.symbolWye, cross: d3.symbolCross };
    const svg = d3.create("svg").attr("width", 26).attr("height", 14).attr("aria-hidden", "true");
    if (entry.style === "contour") svg.append("line").attr("x1", 1).attr("x2", 25).attr("y1", 7).attr("y2", 7).style("stroke", "currentColor").attr("stroke-width", 1.4);
    else if (entry.style === "failed") svg.append("path").attr("transform", "translate(13,7)").attr("d", "M-4-4 4 4M4-4-4 4").style("stroke", "currentColor").attr("stroke-width", 1.8);
    else if (entry.style === "bars") svg.append("rect").attr("x", 6).attr("y", 1).attr("width", 14).attr("height", 12).attr("rx", 2).style("fill", colour);
    else {
      if (entry.style !== "points") svg.append("line").attr("x1", 1).attr("x2", 25).attr("y1", 7).attr("y2", 7).style("stroke", colour).attr("stroke-width", 2.2).attr("stroke-dasharray", entry.dash?.join(" ") ?? DASHES[entry.style] ?? null);
      if (entry.style === "points" || entry.style === "both") svg.append("path").attr("transform", "translate(13,7)").attr("d", d3.symbol(shape[SYMBOLS[entry.symbol]], 52)()).style("fill", colour);
    }
    return svg.node();
  }

  function legend(data, hidden, redraw) {
    const list = document.createElement("div");
    list.className = "legend";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Series; press to hide or show");
    for (const entry of data.legend) {
      const key = `${entry.style} ${entry.label}`;
      const button = document.createElement("button");
      button.type = "button";
      button.append(swatch(entry), entry.label);
      button.setAttribute("aria-pressed", String(!hidden.has(key)));
      button.addEventListener("click", () => {
        if (!hidden.delete(key)) hidden.add(key);
        button.setAttribute("aria-pressed", String(!hidden.has(key)));
        redraw();
      });
      list.append(button);
    }
    return list;
  }

  function label(panel, data) {
    if (panel.kind === "heat") return `Heat map: ${panel.title || data.title}. ${panel.rows.length} rows, ${panel.columns.length} columns, values from −${number(panel.limit, 3)} to ${number(panel.limit, 3)}.`;
    if (panel.kind === "map") return `Map: ${panel.title || data.title}. ${panel.colour.label} by colour over ${panel.x.label} and ${panel.y.label}. The numbers are in the CSV file.`;
    const names = [...panel.series, ...panel.baselines].map((each) => each.label).join("; ");
    return `Chart: ${panel.title || data.title}. ${panel.y.label} against ${panel.x.label}. ${names}. The numbers are in the table below or in the CSV file.`;
  }

  // What the colours of a map mean.
  function colours(colour) {
    const scale = document.createElement("div"), words = document.createElement("span");
    scale.className = "scale rising";
    words.textContent = `${colour.label}${colour.log ? " (logarithmic)" : ""}`;
    scale.append(words, number(colour.limits[0], 3), document.createElement("i"), number(colour.limits[1], 3));
    return scale;
  }

  // A figure in its place; what is drawn may change later, and series that were hidden stay so.
  function begin(live, data) {
    const hidden = new Set();
    let places = [];
    let width = 0;
    let shown = "";
    const redraw = () => {
      const narrowest = d3.max(data.panels, (panel) => NARROWEST[panel.kind]) ?? NARROWEST.plot;
      const across = Math.max(1, Math.min(data.columns, Math.floor((live.clientWidth + 26) / (narrowest + 26))));
      live.querySelector(".panels").style.setProperty("--across", across);
      data.panels.forEach((panel, index) => {
        const room = Math.max(160, Math.min(places[index].clientWidth, 1060));
        const svg = { heat, map, plot }[panel.kind](panel, room, hidden);
        svg.setAttribute("aria-hidden", "true"); // its place has the words
        places[index].replaceChildren(svg);
        places[index].setAttribute("aria-label", label(panel, data));
      });
    };
    // All but the numbers: who has put the focus on a series keeps it while the curves move.
    const frame = () => JSON.stringify([data.legend, data.panels.map((panel) => [panel.kind, panel.title, panel.kind === "heat" && panel.limit, panel.colour])]);
    const build = () => {
      const panels = document.createElement("div");
      panels.className = "panels";
      places = data.panels.map((panel) => {
        const place = document.createElement("div");
        place.className = `panel ${panel.kind}`;
        if (panel.title) {
          const title = document.createElement("h3");
          title.textContent = panel.title;
          place.append(title);
        }
        const drawn = document.createElement("div");
        drawn.className = "drawn";
        drawn.setAttribute("role", "img");
        place.append(drawn);
        if (panel.kind === "heat") {
          const scale = document.createElement("div");
          scale.className = "scale";
          scale.append(number(-panel.limit, 3), document.createElement("i"), number(panel.limit, 3));
          place.append(scale);
        }
        panels.append(place);
        return drawn;
      });
      const coloured = data.panels.find((panel) => panel.kind === "map" && !panel.names.length);
      live.replaceChildren(
        ...(data.legend.length ? [legend(data, hidden, redraw)] : []), ...(coloured ? [colours(coloured.colour)] : []), panels,
      );
      shown = frame();
    };
    build();
    redraw();
    new ResizeObserver(() => {
      if (Math.abs(live.clientWidth - width) > 1) {
        width = live.clientWidth;
        redraw();
      }
    }).observe(live);
    document.addEventListener("themed", redraw);
    const update = (next) => {
      data = next;
      if (frame() !== shown) build();
      redraw();
    };
    return { redraw, update };
  }

  const redraws = [];
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    try {
      const data = JSON.parse(document.getElementById(`data-${figure.dataset.figure}`).textContent);
      redraws.push(begin(figure.querySelector(".live"), data).redraw);
    } catch (error) {
      figure.classList.add("asleep");
      console.error(error);
    }
  }
  // For pages whose figures come later.
  globalThis.descantFigure = (live, data) => {
    const made = begin(live, data);
    redraws.push(made.redraw);
    return made;
  };
  globalThis.descantNumber = number;
  // Paper is light.
  let theme;
  const root = document.documentElement;
  addEventListener("beforeprint", () => { theme = root.dataset.theme; root.dataset.theme = "light"; redraws.forEach((redraw) => redraw()); });
  addEventListener("afterprint", () => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; redraws.forEach((redraw) => redraw()); });
})();
