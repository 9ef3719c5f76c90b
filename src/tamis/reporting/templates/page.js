"use strict";

// Draws the facts of a run. Text of the facts becomes text nodes, or goes to plotly through `plain`: never markup.

const facts = JSON.parse(document.getElementById("facts").textContent);

// ---------------------------------------------------------------- elements and words

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A name of the data in the page, in its own direction of writing. */
function nameOf(text) {
  return String(text).trim() ? make("bdi", {}, String(text)) : make("i", {}, "(no name)");
}

/** A name of the data in a figure: plotly reads some markup, so nothing of it is left; isolates keep its direction. */
function plain(text, letters = 40) {
  const signs = Array.from(String(text).replace(/[\s\p{Cc}]+/gu, " ").trim());
  const short = signs.length > letters ? `${signs.slice(0, letters - 1).join("")}…` : signs.join("");
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return `\u2068${short.replace(/[&<>$]/g, (sign) => entities[sign]) || "(no name)"}\u2069`;
}

function count(value) {
  return value === null ? "–" : Number(value.toFixed(1)).toLocaleString("en-US");
}

function fixed(value, digits = 3) {
  return value === null ? "–" : value.toFixed(digits);
}

function general(value) {
  return value === null ? "–" : String(Number(value.toPrecision(4)));
}

function percent(value, digits = 0) {
  return value === null ? "–" : `${(100 * value).toFixed(digits)} %`;
}

function duration(seconds) {
  if (seconds === null) return "–";
  if (seconds < 60) return `${seconds.toPrecision(2)} s`;
  return seconds < 3600 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function range(n) {
  return Array.from({ length: n }, (_, i) => i);
}

/** Columns of a table as a list of its rows. */
function records(columns) {
  const keys = Object.keys(columns);
  return range(keys.length ? columns[keys[0]].length : 0).map((i) =>
    Object.fromEntries(keys.map((key) => [key, columns[key][i]])),
  );
}

// ---------------------------------------------------------------- colours

const COLOURS = document.documentElement.dataset.colours.split(" ");

/** Plotly's markers and the same in a box of 14: fewer than the colours by one, so that pairs repeat late. */
const SYMBOLS = [
  ["circle", "M7 2a5 5 0 1 0 .01 0z"],
  ["square", "M2 2h10v10H2z"],
  ["diamond", "M7 1l6 6-6 6-6-6z"],
  ["triangle-up", "M7 1l6 11H1z"],
  ["cross", "M5 1h4v4h4v4H9v4H5V9H1V5h4z"],
  ["triangle-down", "M7 13L1 2h12z"],
  ["hourglass", "M2 1h10L2 13h10z"],
];

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

/** The colour of a class or family; lighter where the page is dark. */
function colourOf(i) {
  const colour = COLOURS[i % COLOURS.length];
  const part = (at) => Math.round(0.75 * parseInt(colour.slice(at, at + 2), 16) + 0.25 * 255);
  return isDark() ? `#${[1, 3, 5].map((at) => part(at).toString(16).padStart(2, "0")).join("")}` : colour;
}

const symbolOf = (i) => SYMBOLS[i % SYMBOLS.length][0];
const dashOf = (i) => DASHES[Math.floor(i / COLOURS.length) % DASHES.length];

/** Those of the page, which plotly does not see. */
const TONES = ["ink", "muted", "accent", "grid", "faint", "panel"];
const LIGHT = ["#1d2125", "#555c65", "#0b5a90", "#e3e6ea", "#c9ced4", "#ffffff"];
const DARK = ["#e6e9ec", "#a8b0b9", "#7cc0ee", "#2f353b", "#4a525a", "#1b1f23"];

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const theme = { chosen: null, printing: false };

function isDark() {
  if (theme.printing) return false;
  return theme.chosen === null ? systemDark.matches : theme.chosen === "dark";
}

function tones() {
  const colours = isDark() ? DARK : LIGHT;
  return Object.fromEntries(TONES.map((tone, i) => [tone, colours[i]]));
}

function transparent(colour, share) {
  const part = (i) => parseInt(colour.slice(i, i + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${share})`;
}

function applyTheme() {
  const button = document.getElementById("theme");
  if (theme.chosen !== null) document.documentElement.dataset.theme = theme.chosen;
  button.setAttribute("aria-pressed", String(isDark()));
  redrawAll();
}

function setUpTheme() {
  document.getElementById("theme").addEventListener("click", () => {
    theme.chosen = isDark() ? "light" : "dark";
    applyTheme();
  });
  systemDark.addEventListener("change", applyTheme);
}

// ---------------------------------------------------------------- figures in general

/** What draws each kind of figure: a function of its element that returns traces and layout. */
const FIGURES = {
  sizes: sizesFigure,
  stability: stabilityFigure,
  distribution: distributionFigure,
  upset: upsetFigure,
  redundancy: redundancyFigure,
  projection: projectionFigure,
  roc: rocFigure,
  threshold: thresholdFigure,
  calibration: calibrationFigure,
  permutation: permutationFigure,
  stages: stagesFigure,
  tree: treeFigure,
};

/** Figures that were drawn, and for each the groups of its traces that the reader has put away. */
const drawn = new Map();

/** Points on paper between the margins of a page. */
const PAPER = 680;

function axis(title, more = {}) {
  const { grid, faint, muted } = tones();
  return {
    title: { text: title, font: { size: 13 } },
    gridcolor: grid,
    linecolor: faint,
    zerolinecolor: faint,
    zeroline: false,
    tickfont: { color: muted, size: 12 },
    automargin: true,
    ...more,
  };
}

function layoutOf(more) {
  const { ink, panel, faint } = tones();
  return {
    autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif", size: 13, color: ink },
    margin: { l: 60, r: 16, t: 12, b: 48 },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: panel, bordercolor: faint, font: { color: ink, size: 13 }, align: "left" },
    ...more,
  };
}

/** A line or points that the reader may put away: its label goes into the list above the figure. */
function entry(label, number, trace) {
  return { hoverinfo: "text", legendgroup: String(number), name: plain(label, 30), ...trace, meta: { label, number } };
}

function draw(element) {
  const away = drawn.get(element) ?? new Set();
  const { traces, layout } = FIGURES[element.dataset.figure](element, drawn.has(element) ? null : away);
  drawn.set(element, away);
  const shown = traces.map((t) => (away.has(t.legendgroup) ? { ...t, visible: false } : t));
  drawLegend(element, traces, away);
  const width = theme.printing ? { width: Math.min(PAPER, layout.width ?? PAPER) } : {};
  Plotly.react(element, shown, { ...layout, ...width }, { displayModeBar: false, responsive: !layout.width });
}

function redrawAll() {
  for (const element of drawn.keys()) draw(element);
}

function drawLegend(element, traces, away) {
  const place = element.parentElement.parentElement.querySelector(".legend");
  const entries = traces.filter((trace) => trace.meta?.label !== undefined);
  if (!place || entries.length < 2) return;
  const focused = range(place.children.length).find((i) => place.children[i] === document.activeElement);
  place.hidden = false;
  place.replaceChildren(...entries.map((trace) => legendButton(element, trace, away)));
  if (focused !== undefined) place.children[focused]?.focus();
}

function legendButton(element, trace, away) {
  const { label, number } = trace.meta;
  const group = String(number);
  const mark = shape("path", { d: SYMBOLS[number % SYMBOLS.length][1], fill: colourOf(number), stroke: tones().muted });
  const button = make("button", { type: "button", "aria-pressed": String(!away.has(group)), title: label });
  button.append(shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark), nameOf(label));
  button.addEventListener("click", () => {
    if (!away.delete(group)) away.add(group);
    draw(element);
  });
  return button;
}

/** Saves a figure as it is printed: on white, with its legend. */
function saveFigure(element) {
  theme.printing = true;
  const { traces, layout } = FIGURES[element.dataset.figure](element, null);
  theme.printing = false;
  const away = drawn.get(element) ?? new Set();
  const data = traces.filter((t) => !away.has(t.legendgroup)).map((t) => ({ ...t, showlegend: Boolean(t.meta) }));
  const full = { ...layout, paper_bgcolor: "#ffffff", showlegend: data.some((trace) => trace.showlegend) };
  const size = { width: element.clientWidth, height: element.clientHeight };
  Plotly.downloadImage({ data, layout: full }, { format: "svg", filename: `tamis-${element.dataset.figure}`, ...size });
}

function setUpFigures() {
  const seen = new IntersectionObserver(
    (changes) => {
      for (const { isIntersecting, target } of changes) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        if (!drawn.has(target)) draw(target);
      }
    },
    { rootMargin: "300px" },
  );
  for (const element of document.querySelectorAll(".plot")) seen.observe(element);
  for (const button of document.querySelectorAll(".save")) {
    button.addEventListener("click", () => saveFigure(button.closest(".figure").querySelector(".plot")));
  }
}

function setUpPrinting() {
  const opened = [];
  addEventListener("beforeprint", () => {
    opened.push(...document.querySelectorAll("details:not([open])"));
    for (const each of opened) each.open = true;
    theme.printing = true;
    for (const element of document.querySelectorAll(".plot")) draw(element);
  });
  addEventListener("afterprint", () => {
    for (const each of opened.splice(0)) each.open = false;
    theme.printing = false;
    redrawAll();
  });
}

// ---------------------------------------------------------------- tables in general

const words = new Intl.Collator("en", { numeric: true });

/** Rows shown at first, and how many more at a time. */
const STEP = 20;

/** Orders rows by a column; what is unknown comes last in either direction. */
function ordered(rows, { value }, direction) {
  const compare = (a, b) => (typeof a === "string" ? words.compare(a, b) : a - b);
  return rows
    .map((row) => [value(row), row])
    .sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : direction * compare(a, b)))
    .map(([, row]) => row);
}

/**
 * A table that sorts, searches and grows.
 * columns: [{title, value(row), cell(row), number, falling}]; text(row) is what the search looks into.
 */
class Table {
  constructor(place, { caption, label, what, columns, rows, text, tools = [], mark = () => {} }) {
    Object.assign(this, { columns, what, mark, all: rows, found: rows });
    Object.assign(this, { shown: STEP, query: "", column: null, direction: 1 });
    this.texts = new Map(rows.map((row) => [row, text(row).toLowerCase()]));
    this.headers = columns.map((column) => this.header(column));
    this.body = make("tbody");
    this.more = make("button", { type: "button" });
    this.status = make("span", { role: "status" });
    this.more.addEventListener("click", () => this.grow());
    const head = make("thead", {}, make("tr", {}, ...this.headers));
    const table = make("table", {}, make("caption", { class: "hidden" }, caption), head, this.body);
    const bar = make("div", { class: "tools" }, ...this.search(label), this.status, ...tools);
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    place.replaceChildren(bar, scroll, make("div", { class: "tools" }, this.more));
    this.fill();
  }

  header(column) {
    const button = make("button", { type: "button" }, column.title);
    const header = make("th", { scope: "col", "aria-sort": "none", class: column.number ? "number" : "" }, button);
    button.addEventListener("click", () => this.sort(column));
    return header;
  }

  search(label) {
    const input = make("input", { type: "search", "aria-label": label, placeholder: label, spellcheck: "false" });
    input.addEventListener("input", () => {
      this.query = input.value.trim().toLowerCase();
      this.shown = STEP;
      this.find();
    });
    return [input];
  }

  sort(column) {
    this.direction = this.column === column ? -this.direction : column.falling ? -1 : 1;
    this.column = column;
    const [order, arrow] = this.direction > 0 ? ["ascending", " ▲"] : ["descending", " ▼"];
    this.columns.forEach((each, i) => {
      this.headers[i].setAttribute("aria-sort", each === column ? order : "none");
      this.headers[i].firstChild.textContent = each.title + (each === column ? arrow : "");
    });
    this.all = ordered(this.all, column, this.direction);
    this.find();
  }

  find() {
    this.found = this.query ? this.all.filter((row) => this.texts.get(row).includes(this.query)) : this.all;
    this.fill();
  }

  /** The keyboard stays where it was: at the first of the new rows when the button is gone. */
  grow() {
    this.shown += STEP;
    this.fill();
    if (this.more.hidden) this.body.closest(".scroll").focus();
  }

  fill() {
    const rows = this.found.slice(0, this.shown);
    this.body.replaceChildren(...rows.map((row) => this.line(row)));
    const left = this.found.length - rows.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${Math.min(STEP, left)} more`;
    this.status.textContent = `${count(rows.length)} of ${count(this.found.length)} ${this.what} shown`;
  }

  line(row) {
    const cells = this.columns.map((column) => {
      const cell = make(column.heading ? "th" : "td", { class: column.number ? "number" : "text" });
      if (column.heading) cell.scope = "row";
      cell.append(column.cell ? column.cell(row) : String(column.value(row) ?? "–"));
      return cell;
    });
    const line = make("tr", {}, ...cells);
    this.mark(row, line);
    return line;
  }
}

/**
 * A value and one standard error to either side, on a scale from low to high, with a mark to compare with.
 * What lies beyond the scale is an arrow at its end.
 */
function intervalDrawing({ mean, se }, [low, high], mark = null) {
  const x = (value) => 6 + 108 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const drawing = shape("svg", { class: "interval", viewBox: "0 0 120 20", "aria-hidden": "true" });
  const line = (from, to, y0, y1, more) => shape("line", { x1: from, x2: to, y1: y0, y2: y1, ...more });
  if (mark !== null) drawing.append(line(x(mark), x(mark), 1, 19, { class: "mark", "stroke-dasharray": "2 2" }));
  drawing.append(line(x(mean - se), x(mean + se), 10, 10, { stroke: "currentColor", "stroke-width": 2.5 }));
  const arrow = mean > high ? "M110 5l8 5-8 5z" : mean < low ? "M10 5l-8 5 8 5z" : null;
  const dot = { cx: x(mean), cy: 10, r: 4, fill: "currentColor" };
  drawing.append(arrow === null ? shape("circle", dot) : shape("path", { d: arrow, fill: "currentColor" }));
  return drawing;
}

// ---------------------------------------------------------------- leaderboard

/** How a model stands to the best, in words. */
function verdict(row, { best, smallest, chosen }) {
  const fewer = row.folds < best.folds ? "behind, fewer folds" : "behind";
  const words = [row === best ? "best" : row.same ? "not told apart" : fewer];
  if (row === smallest) words.push("smallest of these");
  if (row === chosen && row !== best) words.push("chosen by the search");
  return words.join(", ");
}

function recipeCell(row) {
  const recipe = make("code", { class: "short", dir: "auto", title: row.recipe }, row.recipe);
  const about = make("small", {}, nameOf(row.family), ` · ${row.stage}`);
  return make("div", {}, recipe, about);
}

function errorCell(row, scale, best) {
  const text = row.se === null ? fixed(row.mean) : `${fixed(row.mean)} ± ${fixed(row.se)}`;
  const cell = make("div", { class: "error" }, make("span", {}, text));
  if (row.mean !== null) cell.append(intervalDrawing({ mean: row.mean, se: row.se ?? 0 }, scale, best.mean));
  return cell;
}

function setUpLeaderboard(place) {
  const { metric } = facts.models;
  const rows = records(facts.models.rows).map((row, i) => ({ ...row, place: i + 1 }));
  const [best, smallest, chosen] = ["best", "smallest", "chosen"].map((key) => rows[facts.models[key] ?? -1]);
  const said = (row) => verdict(row, { best, smallest, chosen });
  const known = rows.slice(0, STEP).filter((row) => row.mean !== null);
  const ends = known.flatMap((row) => [row.mean - (row.se ?? 0), row.mean + (row.se ?? 0)]);
  const scale = [Math.min(...ends), Math.max(...ends)];
  const falling = metric.better === "high";
  new Table(place, {
    caption: "Models, the best first",
    label: "Filter by recipe, family or stage",
    what: "models",
    rows,
    text: (row) => `${row.recipe} ${row.family} ${row.stage} ${said(row)}`,
    mark: (row, line) => line.classList.toggle("picked", row === best),
    columns: [
      { title: "Rank", number: true, value: (row) => row.place },
      { title: "Model", heading: true, value: (row) => row.recipe, cell: recipeCell },
      { title: metric.title, falling, value: (row) => row.mean, cell: (row) => errorCell(row, scale, best) },
      { title: "Cautious", number: true, falling, value: (row) => row.cautious, cell: (row) => fixed(row.cautious) },
      { title: "Features", number: true, value: (row) => row.features, cell: (row) => count(row.features) },
      { title: "Time", number: true, value: (row) => row.seconds, cell: (row) => duration(row.seconds) },
      { title: "Folds", number: true, falling: true, value: (row) => row.folds },
      { title: "Beside the best", value: said },
    ],
  });
}

// ---------------------------------------------------------------- error and size

/** Families that are shown at first. */
const FIRST_FAMILIES = 6;

/** Powers of ten, and 2 and 5 between them where there is room. */
function sizeAxis(sizes) {
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const steps = Math.log10(high / low) < 3.5 ? [1, 2, 5] : [1];
  const ticks = range(12).flatMap((power) => steps.map((step) => step * 10 ** power));
  return axis("features", { type: "log", tickvals: ticks, ticktext: ticks.map(count) });
}

function pointText(family, point) {
  const { metric } = facts.models;
  const error = `${metric.title} ${fixed(point.mean)} ± ${fixed(point.se)}, ${count(point.features)} features`;
  const stability = point.stability === null ? "" : `<br>stability ${fixed(point.stability, 2)}`;
  return `<b>${plain(family)}</b><br>${plain(point.recipe, 70)}<br>${error}${stability}`;
}

/** Families with the points that a logarithmic axis can show, the best family first. */
function families() {
  const { metric, curves } = facts.models;
  const sign = metric.better === "low" ? 1 : -1;
  return curves
    .map(({ family, points }) => ({
      family,
      points: records(points).filter((point) => point.features > 0 && point.mean !== null),
    }))
    .filter(({ points }) => points.length)
    .map((each) => ({ ...each, best: Math.min(...each.points.map((point) => sign * point.mean)) }))
    .sort((a, b) => a.best - b.best);
}

function band(points, i) {
  const edge = (sign) => points.map((point) => point.mean + sign * (point.se ?? 0));
  const x = points.map((point) => point.features);
  const fill = { fill: "toself", fillcolor: transparent(colourOf(i), 0.16), line: { width: 0 }, mode: "lines" };
  const ends = { x: [...x, ...x.toReversed()], y: [...edge(1), ...edge(-1).toReversed()] };
  return { ...ends, ...fill, hoverinfo: "skip", legendgroup: String(i), showlegend: false };
}

function sizesFigure(element, away) {
  const all = families();
  if (away) range(all.length).slice(FIRST_FAMILIES).forEach((i) => away.add(String(i)));
  const lines = all.map(({ family, points }, i) =>
    entry(family, i, {
      x: points.map((point) => point.features),
      y: points.map((point) => point.mean),
      mode: "lines+markers",
      line: { color: colourOf(i), dash: dashOf(i), width: 2 },
      marker: { symbol: symbolOf(i), size: 7 },
      hovertext: points.map((point) => pointText(family, point)),
    }),
  );
  const bands = all.map(({ points }, i) => band(points, i));
  const sizes = all.flatMap(({ points }) => points.map((point) => point.features));
  const layout = { xaxis: sizeAxis(sizes), yaxis: axis(facts.models.metric.title) };
  return { traces: [...bands, ...lines], layout: layoutOf(layout) };
}

function stabilityFigure() {
  const known = families().flatMap(({ family, points }) =>
    points.filter((point) => point.stability !== null).map((point) => ({ ...point, text: pointText(family, point) })),
  );
  const { ink, muted } = tones();
  const trace = {
    x: known.map((point) => point.features),
    y: known.map((point) => point.mean),
    mode: "markers",
    hoverinfo: "text",
    hovertext: known.map((point) => point.text),
    marker: {
      size: 10,
      color: known.map((point) => point.stability),
      colorscale: "Cividis",
      cmin: 0,
      cmax: 1,
      line: { color: muted, width: 0.8 },
      colorbar: { title: { text: "stability" }, thickness: 14, outlinewidth: 0, tickfont: { color: ink } },
    },
  };
  const layout = { xaxis: sizeAxis(known.map((point) => point.features)), yaxis: axis(facts.models.metric.title) };
  return { traces: [trace], layout: layoutOf(layout) };
}

// ---------------------------------------------------------------- features

const distributions = new Map((facts.features?.distributions ?? []).map((each) => [each.name, each]));
const picked = { name: distributions.keys().next().value, line: null };

function featureCell(row) {
  const shownName = nameOf(row.name);
  shownName.classList.add("short");
  if (!distributions.has(row.name)) return shownName;
  const button = make("button", { type: "button", class: "pick", title: row.name }, shownName);
  button.addEventListener("click", () => pick(row.name, button.closest("tr")));
  return button;
}

function chosenCell(row) {
  const width = row.chosen === null ? 0 : row.chosen;
  return make("div", { class: "bar", style: `--share: ${width.toFixed(3)}` }, percent(row.chosen));
}

function setUpFeatures(place) {
  const { table, score_name: score } = facts.features;
  const rows = records(Object.fromEntries(Object.entries(table).filter(([, column]) => column !== null)));
  const numbers = { number: true, falling: true };
  const title = score ? `Score (${score})` : "Score";
  const columns = [
    { title: "Rank", number: true, value: (row) => row.rank },
    { title: "Feature", heading: true, value: (row) => row.name, cell: featureCell },
    { title, ...numbers, value: (row) => row.score, cell: (row) => general(row.score) },
  ];
  if (table.chosen.some((share) => share !== null)) {
    const used = (row) => (row.used === null ? null : row.used ? "yes" : "no");
    columns.push({ title: "Chosen", ...numbers, value: (row) => row.chosen, cell: chosenCell });
    if (table.used.some((each) => each !== null)) columns.push({ title: "In the model", falling: true, value: used });
  }
  if (table.role) columns.push({ title: "Role", value: (row) => row.role, cell: (row) => nameOf(row.role ?? "") });
  const csv = make("button", { type: "button", id: "csv" }, "Download CSV");
  csv.addEventListener("click", () => downloadTable(table));
  new Table(place, {
    caption: "Features, the first by score first",
    label: "Search features",
    what: "features",
    columns,
    rows,
    text: (row) => row.name,
    tools: [csv],
    mark: markPicked,
  });
  if (distributions.size) showPicked();
}

function markPicked(row, line) {
  if (row.name !== picked.name) return;
  line.classList.add("picked");
  picked.line = line;
}

function pick(name, line) {
  picked.line?.classList.remove("picked");
  line.classList.add("picked");
  Object.assign(picked, { name, line });
  showPicked();
  const plot = document.querySelector("#distribution .plot");
  if (window.Plotly) draw(plot);
  plot.closest("aside").scrollIntoView({ block: "nearest" });
}

function showPicked() {
  const { name, kind, missing, classes } = distributions.get(picked.name);
  document.getElementById("distribution-name").replaceChildren(nameOf(name));
  const rows = classes.reduce((sum, each) => sum + each.counts.reduce((a, b) => a + b, 0), 0);
  const text = `Share of each class, ${kind}; ${count(rows)} values, ${count(missing)} missing.`;
  document.getElementById("distribution-about").textContent = text;
}

function quoted(value) {
  return typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : String(value ?? "");
}

function downloadTable(table) {
  const keys = Object.keys(table).filter((key) => table[key] !== null);
  const lines = range(table.name.length).map((i) => keys.map((key) => quoted(table[key][i])).join(","));
  const address = URL.createObjectURL(new Blob([[keys.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }));
  make("a", { href: address, download: "features.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** One class, one colour: its place in the list of classes, where it is there. */
function numberOf(label, otherwise = 0) {
  const found = facts.rows?.classes.indexOf(label) ?? -1;
  return found < 0 ? otherwise : found;
}

function shares(counts) {
  const all = counts.reduce((a, b) => a + b, 0);
  return counts.map((each) => (all ? each / all : 0));
}

function distributionFigure() {
  const { classes, edges, levels } = distributions.get(picked.name);
  const traces = classes.map(({ class: label, counts }, place) => {
    const i = numberOf(label, place);
    const part = (j) => (edges ? `${general(edges[j])} to ${general(edges[j + 1])}` : plain(levels[j]));
    const hovertext = counts.map((n, j) => `<b>${plain(label)}</b><br>${part(j)}<br>${count(n)} rows`);
    const y = shares(counts);
    const marker = { color: colourOf(i) };
    if (!edges) return entry(label, i, { type: "bar", x: range(y.length), y, hovertext, marker });
    const line = { color: colourOf(i), shape: "hv", width: 2, dash: dashOf(i) };
    const fill = { fill: "tozeroy", fillcolor: transparent(colourOf(i), classes.length > 3 ? 0.06 : 0.18) };
    // The last step needs an end.
    const steps = { x: edges, y: [...y, y.at(-1)], hovertext: [...hovertext, hovertext.at(-1)] };
    return entry(label, i, { mode: "lines", line, ...fill, ...steps });
  });
  const marks = levels && { tickvals: range(levels.length), ticktext: levels.map((level) => plain(level, 14)) };
  const layout = { xaxis: axis("", marks ?? {}), yaxis: axis("", { tickformat: ".0%", rangemode: "tozero" }) };
  return { traces, layout: layoutOf({ ...layout, margin: { l: 40, r: 8, t: 8, b: 30 }, bargap: 0.25 }) };
}

/** How many features each group of selectors chose. */
function upsetBars({ names, sets }) {
  const who = ({ members }) => members.map((i) => plain(names[i], 30)).join(" and ");
  return {
    type: "bar",
    x: range(sets.length),
    y: sets.map((set) => set.size),
    text: sets.map((set) => count(set.size)),
    textposition: "outside",
    cliponaxis: false,
    hovertext: sets.map((set) => `${who(set)}<br>${count(set.size)} features`),
    hoverinfo: "text",
    marker: { color: tones().accent },
  };
}

/** Which selectors are in each group: full dots, joined by a line, among empty ones. */
function upsetDots({ names, sets }) {
  const { faint, ink } = tones();
  const look = (color) => ({ marker: { size: 11, color }, line: { width: 2, color }, yaxis: "y2", hoverinfo: "skip" });
  const at = (pairs) => ({ x: pairs.map(([x]) => x), y: pairs.map(([, y]) => y) });
  const empty = sets.flatMap((_, i) => names.map((__, j) => [i, j]));
  const full = sets.flatMap((set, i) => [...set.members.map((j) => [i, j]), [null, null]]);
  return [{ ...at(empty), mode: "markers", ...look(faint) }, { ...at(full), mode: "lines+markers", ...look(ink) }];
}

function upsetFigure() {
  const { selectors } = facts.features;
  const { names, sets, sizes } = selectors;
  const split = Math.min(0.6, (names.length * 26) / (260 + 26 * names.length));
  const ticktext = names.map((name, i) => `${plain(name, 24)} (${count(sizes[i])})`);
  const marks = { tickvals: range(names.length), ticktext, showgrid: false, fixedrange: true };
  const layout = {
    xaxis: axis("", { visible: false, range: [-0.6, Math.max(sets.length, 8) - 0.4], fixedrange: true }),
    yaxis: axis("features", { domain: [split + 0.04, 1], rangemode: "tozero" }),
    yaxis2: axis("", { domain: [0, split], range: [names.length - 0.5, -0.5], ...marks }),
    margin: { l: 60, r: 16, t: 24, b: 8 },
  };
  return { traces: [upsetBars(selectors), ...upsetDots(selectors)], layout: layoutOf(layout) };
}

/** Rectangles around neighbours of one cluster. */
function clusterFrames(clusters) {
  const ends = range(clusters.length + 1).filter((i) => i === 0 || clusters[i] !== clusters[i - 1]);
  return ends.slice(1).flatMap((end, i) => {
    const [low, high] = [ends[i] - 0.5, end - 0.5];
    const frame = { type: "rect", x0: low, x1: high, y0: low, y1: high, line: { color: tones().ink, width: 1.5 } };
    return high - low > 1 ? [frame] : [];
  });
}

function redundancyFigure() {
  const { names, correlation, cluster, order } = facts.features.redundancy;
  const { panel, muted } = tones();
  const short = order.map((i) => plain(names[i], 22));
  const cell = (i, j) => `${short[i]}<br>${short[j]}<br>|r| = ${fixed(correlation[order[i]][order[j]], 2)}`;
  const trace = {
    type: "heatmap",
    z: order.map((i) => order.map((j) => correlation[i][j])),
    hovertext: order.map((_, i) => order.map((__, j) => cell(i, j))),
    hoverinfo: "text",
    zmin: 0,
    zmax: 1,
    colorscale: [[0, panel], [1, tones().accent]],
    colorbar: { title: { text: "|r|" }, thickness: 14, outlinewidth: 0 },
  };
  const tickfont = { size: 10, color: muted };
  const marks = { tickvals: range(short.length), ticktext: short, showgrid: false, tickfont };
  const layout = {
    xaxis: axis("", { ...marks, tickangle: -60, constrain: "domain" }),
    yaxis: axis("", { ...marks, autorange: "reversed", scaleanchor: "x", constrain: "domain" }),
    shapes: clusterFrames(order.map((i) => cluster[i])),
  };
  return { traces: [trace], layout: layoutOf(layout) };
}

// ---------------------------------------------------------------- rows

function projectionFigure() {
  const { projection, classes } = facts.rows;
  const { x, y, row, explained } = projection;
  const look = { size: 8, opacity: 0.85, line: { width: 0.6, color: tones().panel } };
  const traces = classes.map((label, c) => {
    const own = range(x.length).filter((i) => projection.class[i] === c);
    return entry(label, c, {
      x: own.map((i) => x[i]),
      y: own.map((i) => y[i]),
      mode: "markers",
      marker: { color: colourOf(c), symbol: symbolOf(c), ...look },
      hovertext: own.map((i) => `${plain(row[i], 60)}<br><b>${plain(label)}</b>`),
    });
  });
  const title = (i) => `component ${i + 1} (${percent(explained[i] ?? null)} of the variance)`;
  return { traces, layout: layoutOf({ xaxis: axis(title(0)), yaxis: axis(title(1)) }) };
}

/** What chance, or perfect honesty, would be. */
function diagonal() {
  const line = { color: tones().muted, dash: "dot", width: 1.5 };
  return { x: [0, 1], y: [0, 1], mode: "lines", line, hoverinfo: "skip" };
}

const unit = (title, more = {}) => axis(title, { range: [-0.02, 1.02], ...more });

function rocFigure() {
  const traces = facts.rows.roc.curves.map(({ class: label, fpr, tpr, auc }) => {
    const c = numberOf(label);
    const name = `<b>${plain(label)}</b>, AUC ${fixed(auc)}`;
    const hovertext = fpr.map((x, i) => `${name}<br>found ${percent(tpr[i])}, taken wrongly ${percent(x)}`);
    const line = { color: colourOf(c), dash: dashOf(c), width: 2 };
    return entry(label, c, { x: fpr, y: tpr, mode: "lines", line, hovertext });
  });
  const areas = facts.rows.roc.curves.map(({ class: label, auc }) => `${plain(label, 20)} ${fixed(auc)}`);
  const place = { x: 0.98, y: 0.04, xanchor: "right", yanchor: "bottom", showarrow: false, align: "right" };
  const note = { ...place, text: `AUC<br>${areas.join("<br>")}`, font: { color: tones().muted, size: 12 } };
  const annotations = areas.length > 12 ? [] : [note];
  const layout = { xaxis: unit("others taken for the class"), yaxis: unit("class found"), annotations };
  return { traces: [diagonal(), ...traces], layout: layoutOf(layout) };
}

function thresholdFigure() {
  const { share, ber, best, used } = facts.rows.threshold;
  const at = (point, i, label) =>
    point && entry(label, i, {
      x: [point.share],
      y: [point.ber],
      mode: "markers",
      marker: { color: colourOf(i), symbol: symbolOf(i), size: 13, line: { width: 1, color: tones().ink } },
      hovertext: [`${label}<br>BER ${fixed(point.ber)} with ${percent(point.share)} called positive`],
    });
  const hovertext = share.map((x, i) => `BER ${fixed(ber[i])} with ${percent(x)} called positive`);
  const stroke = { color: tones().accent, width: 2 };
  const line = { x: share, y: ber, mode: "lines", line: stroke, hoverinfo: "text", hovertext };
  const xaxis = unit("rows called positive", { tickformat: ".0%" });
  const points = [at(used, 1, "in use"), at(best, 2, "best seen afterwards")].filter(Boolean);
  return { traces: [line, ...points], layout: layoutOf({ xaxis, yaxis: axis("BER", { rangemode: "tozero" }) }) };
}

function calibrationFigure() {
  const traces = facts.rows.calibration.curves.map(({ class: label, predicted, observed, count: sizes }) => {
    const c = numberOf(label);
    const told = (p, i) => `told ${percent(p)}, found ${percent(observed[i])} of ${count(sizes[i])} rows`;
    const hovertext = predicted.map((p, i) => `<b>${plain(label)}</b><br>${told(p, i)}`);
    const look = { line: { color: colourOf(c), dash: dashOf(c) }, marker: { symbol: symbolOf(c), size: 8 } };
    return entry(label, c, { x: predicted, y: observed, mode: "lines+markers", ...look, hovertext });
  });
  const layout = { xaxis: unit("predicted probability"), yaxis: unit("observed share") };
  return { traces: [diagonal(), ...traces], layout: layoutOf(layout) };
}

// ---------------------------------------------------------------- honesty

function permutationFigure() {
  const { value, null: nulls } = facts.honesty.permutation;
  const { ink, faint, accent } = tones();
  const histogram = { type: "histogram", x: nulls, nbinsx: 30, marker: { color: faint }, hoverinfo: "x+y" };
  const [low, high] = [Math.min(...nulls, value), Math.max(...nulls, value)];
  const room = 0.06 * (high - low || 1);
  const stroke = { color: accent, width: 2.5 };
  const line = { type: "line", yref: "paper", x0: value, x1: value, y0: 0, y1: 1, line: stroke };
  const place = { x: value, y: 1, yref: "paper", yanchor: "top", xanchor: value < (low + high) / 2 ? "left" : "right" };
  const layout = {
    xaxis: axis(facts.answer?.metric.title ?? "error", { range: [low - room, high + room] }),
    yaxis: axis("permutations"),
    shapes: [line],
    annotations: [{ ...place, text: ` reached: ${fixed(value)} `, showarrow: false, font: { color: ink } }],
    bargap: 0.05,
  };
  return { traces: [histogram], layout: layoutOf(layout) };
}

function setUpEstimates() {
  const cells = Array.from(document.querySelectorAll(".strip[data-mean]"));
  const values = cells.map(({ dataset }) => ({ mean: Number(dataset.mean), se: Number(dataset.se) || 0 }));
  const high = Math.max(...values.map(({ mean, se }) => mean + se).filter(Number.isFinite));
  cells.forEach((cell, i) => {
    if (Number.isFinite(values[i].mean)) cell.append(intervalDrawing(values[i], [0, high || 1]));
  });
}

// ---------------------------------------------------------------- story

function stagesFigure() {
  const { stages } = facts.story;
  const told = ({ recipes, best }) => `${count(recipes)} tried${best === null ? "" : `, best ${fixed(best)}`}`;
  const when = ({ stage, begin, end }) => `<b>${plain(stage)}</b><br>${duration(begin)} to ${duration(end)}`;
  const trace = {
    type: "bar",
    orientation: "h",
    base: stages.map((stage) => stage.begin),
    x: stages.map((stage) => stage.end - stage.begin),
    y: range(stages.length),
    text: stages.map(told),
    textposition: "outside",
    hoverinfo: "text",
    hovertext: stages.map((stage) => `${when(stage)}<br>${told(stage)}`),
    marker: { color: tones().accent },
    outsidetextfont: { color: tones().ink },
    cliponaxis: false,
  };
  const names = stages.map((stage) => plain(stage.stage, 24));
  const layout = {
    xaxis: axis("seconds since the start", { range: [0, 1.25 * Math.max(...stages.map((stage) => stage.end))] }),
    yaxis: axis("", { tickvals: range(stages.length), ticktext: names, autorange: "reversed", showgrid: false }),
  };
  return { traces: [trace], layout: layoutOf({ ...layout, bargap: 0.35 }) };
}

/** Trees come as figures; the height of their place is made theirs. */
function treeFigure(element) {
  const { data, layout } = structuredClone(facts.story.trees[Number(element.dataset.number)].figure);
  if (layout.height) element.style.height = `${layout.height}px`;
  return { traces: data, layout };
}

// ---------------------------------------------------------------- commands

function copied(button, text) {
  const word = button.firstChild;
  word.textContent = "Copied";
  document.getElementById("said").textContent = `Copied: ${text}`;
  setTimeout(() => { word.textContent = "Copy"; }, 2000);
}

/** Where the page may not use the clipboard, the text is marked for the reader to copy. */
function setUpCopying() {
  for (const button of document.querySelectorAll(".copy")) {
    const code = button.parentElement.querySelector("code");
    button.addEventListener("click", () => {
      const text = code.textContent;
      const select = () => getSelection().selectAllChildren(code);
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => copied(button, text), select);
      else select();
    });
  }
}

// ---------------------------------------------------------------- the page

const TABLES = { models: setUpLeaderboard, features: setUpFeatures };

for (const place of document.querySelectorAll("[data-table]")) TABLES[place.dataset.table](place);
setUpEstimates();
setUpCopying();
setUpTheme();
applyTheme();

// The library that draws comes after this script, so that the words need not wait for it.
document.addEventListener("DOMContentLoaded", () => {
  setUpFigures();
  setUpPrinting();
});
