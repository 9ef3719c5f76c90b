"use strict";

// Draws the facts of a run. Text of the facts becomes text nodes: never markup. Figures are plotly's data and layout,
// in which names are escaped and colours are numbers of classes or names of tones.

const [facts, figures] = ["facts", "figures"].map((id) => JSON.parse(document.getElementById(id).textContent));

// ---------------------------------------------------------------- elements and words

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function shape(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A name of the data in the page, in its own direction of writing. */
function nameOf(text) {
  return String(text).trim() ? make("bdi", {}, String(text)) : make("i", {}, "(no name)");
}

function count(value) {
  return value === null ? "–" : Number(value.toFixed(1)).toLocaleString("en-US");
}

function fixed(value, digits = 3) {
  if (value === null) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** A value of the main metric: four digits where it has the units of the target. */
const inUnits = document.documentElement.dataset.units === "target";

function metricText(value) {
  if (value === null || !inUnits) return fixed(value);
  const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  if (digits > 8) return value.toPrecision(4);
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
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

/** Plotly's markers in a box of 14. */
const SHAPES = {
  circle: "M7 2a5 5 0 1 0 .01 0z",
  square: "M2 2h10v10H2z",
  diamond: "M7 1l6 6-6 6-6-6z",
  "triangle-up": "M7 1l6 11H1z",
  cross: "M5 1h4v4h4v4H9v4H5V9H1V5h4z",
  "triangle-down": "M7 13L1 2h12z",
  hourglass: "M2 1h10L2 13h10z",
};

/** The colour of a class or family; lighter where the page is dark. */
function colourOf(i) {
  const colour = COLOURS[i % COLOURS.length];
  const part = (at) => Math.round(0.75 * parseInt(colour.slice(at, at + 2), 16) + 0.25 * 255);
  return isDark() ? `#${[1, 3, 5].map((at) => part(at).toString(16).padStart(2, "0")).join("")}` : colour;
}

/** The colours of the page for plotly, which does not read its style. */
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

/** A colour as figures have it: the number of a class or the name of a tone, with its opacity behind a slash. */
function mixed(text) {
  const [base, share] = text.split("/");
  const colour = /^\d+$/.test(base) ? colourOf(Number(base)) : tones()[base];
  return colour && share ? transparent(colour, share) : (colour ?? text);
}

/** A part of a figure in the colours of the page. */
function painted(value, key = "") {
  if (typeof value === "string") return /color/.test(key) ? mixed(value) : value;
  if (Array.isArray(value)) return /color|shapes/.test(key) ? value.map((each) => painted(each, key)) : value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, painted(inner, name)]));
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

/** The traces and the layout of a figure. Trees come in colours of their own, and have a height. */
function figureOf({ dataset, style }) {
  const { figure: name, number } = dataset;
  const known = name === "tree" ? facts.story.trees[Number(number)].figure : figures[name];
  const { data, layout } = Array.isArray(known) ? known[picked.number] : known;
  const whole = { ...layout, template: figures.template };
  if (name !== "tree") return { traces: data.map((trace) => painted(trace)), layout: painted(whole) };
  style.height = `${layout.height}px`;
  return structuredClone({ traces: data, layout });
}

/** Figures that were drawn, and for each the groups of its traces that the reader has hidden. */
const drawn = new Map();

/** Points on paper between the margins of a page. */
const PAPER = 680;

function draw(element) {
  const { traces, layout } = figureOf(element);
  const hidden = traces.filter((trace) => trace.meta?.hidden).map((trace) => trace.legendgroup);
  const away = drawn.get(element) ?? new Set(hidden);
  drawn.set(element, away);
  const shown = traces.map((t) => (away.has(t.legendgroup) ? { ...t, visible: false } : t));
  drawLegend(element, traces, away);
  const paper = element.closest(".pair") ? PAPER / 2 - 12 : PAPER;
  const width = theme.printing ? { width: Math.min(paper, layout.width ?? paper) } : {};
  Plotly.react(element, shown, { ...layout, ...width }, { displayModeBar: false, responsive: !layout.width });
}

function redrawAll() {
  for (const element of drawn.keys()) draw(element);
}

function drawLegend(element, traces, away) {
  const place = element.parentElement.parentElement.querySelector(".legend");
  const entries = traces.filter((trace) => trace.meta);
  if (!place || !entries.length) return;
  const focused = range(place.children.length).find((i) => place.children[i] === document.activeElement);
  place.hidden = false;
  place.replaceChildren(...entries.map((trace) => legendButton(element, trace, away)));
  if (focused !== undefined) place.children[focused]?.focus();
}

function legendButton(element, { meta, legendgroup: group }, away) {
  const { label, colour, shape: mark } = meta;
  const open = mark.endsWith("-open");
  const fill = { fill: open ? "none" : mixed(colour), stroke: open ? mixed(colour) : tones().muted };
  const sign = shape("path", { d: SHAPES[mark.replace("-open", "")], ...fill });
  const button = make("button", { type: "button", "aria-pressed": String(!away.has(group)), title: label });
  button.append(shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, sign), nameOf(label));
  button.addEventListener("click", () => {
    if (!away.delete(group)) away.add(group);
    draw(element);
  });
  return button;
}

/** Saves a figure as it is printed: on white, with its legend. */
function saveFigure(element) {
  theme.printing = true;
  const { traces, layout } = figureOf(element);
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

/** Sorts rows by a column, with unknown values last in either direction. */
function ordered(rows, { value }, direction) {
  const compare = (a, b) => (typeof a === "string" ? words.compare(a, b) : a - b);
  return rows
    .map((row) => [value(row), row])
    .sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : direction * compare(a, b)))
    .map(([, row]) => row);
}

/**
 * A table that sorts, searches and grows.
 * columns: [{title, value(row), cell(row), number, falling}]; text(row) is what the search matches.
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

  /** Moves the focus to the table when the button is gone. */
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

/** How a model compares with the best, in words. */
function verdict(row, { best, smallest, chosen }) {
  const fewer = row.folds < best.folds ? "behind, fewer folds" : "behind";
  const words = [row === best ? "best" : row.same ? "no significant difference" : fewer];
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
  const text = row.se === null ? metricText(row.mean) : `${metricText(row.mean)} ± ${metricText(row.se)}`;
  const cell = make("div", { class: "error" }, make("span", {}, text));
  if (row.mean !== null) cell.append(intervalDrawing({ mean: row.mean, se: row.se ?? 0 }, scale, best.mean));
  return cell;
}

function setUpLeaderboard(place) {
  const { metric } = facts.models;
  const rows = records(facts.models.rows).map((row, i) => ({ ...row, place: i + 1 }));
  const [best, smallest, chosen] = ["best", "smallest", "chosen"].map((key) => rows[facts.models[key] ?? -1]);
  const standing = (row) => verdict(row, { best, smallest, chosen });
  const known = rows.slice(0, STEP).filter((row) => row.mean !== null);
  const ends = known.flatMap((row) => [row.mean - (row.se ?? 0), row.mean + (row.se ?? 0)]);
  const scale = [Math.min(...ends), Math.max(...ends)];
  const falling = metric.better === "high";
  new Table(place, {
    caption: "Models, the best first",
    label: "Filter by recipe, family or stage",
    what: "models",
    rows,
    text: (row) => `${row.recipe} ${row.family} ${row.stage} ${standing(row)}`,
    mark: (row, line) => line.classList.toggle("picked", row === best),
    columns: [
      { title: "Rank", number: true, value: (row) => row.place },
      { title: "Model", heading: true, value: (row) => row.recipe, cell: recipeCell },
      { title: metric.title, falling, value: (row) => row.mean, cell: (row) => errorCell(row, scale, best) },
      { title: "Cautious", number: true, falling, value: (row) => row.cautious, cell: ({ cautious }) => metricText(cautious) },
      { title: "Features", number: true, value: (row) => row.features, cell: (row) => count(row.features) },
      { title: "Time", number: true, value: (row) => row.seconds, cell: (row) => duration(row.seconds) },
      { title: "Folds", number: true, falling: true, value: (row) => row.folds },
      { title: "Beside the best", value: standing },
    ],
  });
}

// ---------------------------------------------------------------- features

/** Names of the features with a figure, its number, and the feature that is shown. */
const distributions = new Map((figures.distribution ?? []).map((each, i) => [each.title, i]));
const picked = { name: distributions.keys().next().value, number: 0, line: null };

/** What could stand in for a feature, in words; null where that was not examined. */
function replacement(examined) {
  if (!examined) return null;
  const others = examined.by.map(({ name, measure, redundancy }) => `${name} (${measure} = ${redundancy.toFixed(2)})`);
  if (!others.length) return examined.needed ? "no substitute found" : "dispensable";
  return `${examined.needed ? "" : "dispensable, or "}could be replaced by: ${others.join(", ")}`;
}

function featureCell(row) {
  const picker = featureName(row);
  return row.replaced === null ? picker : make("div", {}, picker, make("small", { dir: "auto" }, row.replaced));
}

function featureName(row) {
  const shownName = nameOf(row.name);
  shownName.classList.add("short");
  if (!distributions.has(row.name)) return shownName;
  const button = make("button", { type: "button", class: "pick", title: row.name }, shownName);
  button.addEventListener("click", () => pick(row.name, button.closest("tr")));
  return button;
}

/** The direction of effect in words, around the name of a class: where a feature or the target is higher. */
function effectWords({ class: label, level, size, low, high }) {
  if (label === null) return targetEffect({ level, size, low, high });
  const way = size < 0 ? -1 : 1;
  const [from, to] = way > 0 ? [low, high] : [-high, -low];
  if (level === null) {
    const much = `by ${fixed(way * size, 2)} sd (${fixed(from, 2)} to ${fixed(to, 2)})`;
    return [way > 0 ? "higher in" : "lower in", label, much];
  }
  const points = (share) => (100 * share).toFixed(0);
  const much = `by ${points(way * size)} points (${points(from)} to ${points(to)})`;
  return [`"${level}" ${way > 0 ? "more" : "less"} often in`, label, much];
}

/** The same where the target holds numbers, which have no classes. */
function targetEffect({ level, size, low, high }) {
  const ends = (from, to) => `(${fixed(from, 2)} to ${fixed(to, 2)})`;
  const way = size < 0 ? "falls" : "rises";
  if (level === null) return [`${way} with it`, null, `r = ${fixed(size, 2)} ${ends(low, high)}`];
  if (size < 0) return [`lower at "${level}"`, null, `by ${fixed(-size, 2)} sd ${ends(-high, -low)}`];
  return [`higher at "${level}"`, null, `by ${fixed(size, 2)} sd ${ends(low, high)}`];
}

function effectCell(row) {
  if (!row.effect) return "–";
  const [way, label, much] = effectWords(row.effect);
  const name = label === null ? [] : [" ", nameOf(label)];
  return make("div", { class: "effect" }, make("bdi", {}, way), ...name, make("small", {}, much));
}

function lossCell({ loss }) {
  if (!loss || loss.mean === null) return "–";
  return loss.sd === null ? metricText(loss.mean) : `${metricText(loss.mean)} ± ${metricText(loss.sd)}`;
}

function chosenCell(row) {
  const width = row.chosen === null ? 0 : row.chosen;
  return make("div", { class: "bar", style: `--share: ${width.toFixed(3)}` }, percent(row.chosen));
}

function setUpFeatures(place) {
  const { table, score_name: score, substitutes, effects, permutation_importance: importance } = facts.features;
  const losses = new Map((importance?.loss ?? []).map((each) => [each.place, each]));
  const examined = new Map((substitutes?.examined ?? []).map((each) => [each.place, each]));
  const known = Object.fromEntries(Object.entries(table).filter(([, column]) => column !== null));
  const more = (i) => ({ replaced: replacement(examined.get(i)), effect: effects?.[i] ?? null, loss: losses.get(i) });
  const rows = records(known).map((row, i) => ({ ...row, ...more(i) }));
  const numbers = { number: true, falling: true };
  const title = score ? `Score (${score})` : "Score";
  const columns = [
    { title: "Rank", number: true, value: (row) => row.rank },
    { title: "Feature", heading: true, value: (row) => row.name, cell: featureCell },
    { title, ...numbers, value: (row) => row.score, cell: (row) => general(row.score) },
  ];
  if (table.chosen.some((share) => share !== null)) {
    const used = (row) => (row.used === null ? null : row.used ? "yes" : "no");
    columns.push({ title: "Selected", ...numbers, value: (row) => row.chosen, cell: chosenCell });
    if (table.used.some((each) => each !== null)) columns.push({ title: "In model", falling: true, value: used });
  }
  if (losses.size) columns.push({ title: "Permuted", ...numbers, value: (row) => row.loss?.mean ?? null, cell: lossCell });
  if (effects) {
    const size = (row) => (row.effect ? Math.abs(row.effect.size) : null);
    columns.push({ title: "Effect", falling: true, value: size, cell: effectCell });
  }
  if (table.role) columns.push({ title: "Role", value: (row) => row.role, cell: (row) => nameOf(row.role ?? "") });
  const csv = make("button", { type: "button", id: "csv" }, "Download CSV");
  const replaced = examined.size ? rows.map((row) => row.replaced) : null;
  const inWords = (effect) => effectWords(effect).filter((part) => part !== null).join(" ");
  const effect = effects ? rows.map((row) => (row.effect ? inWords(row.effect) : null)) : null;
  const permuted = losses.size ? rows.map((row) => row.loss?.mean ?? null) : null;
  csv.addEventListener("click", () => downloadTable({ ...table, replaced, permuted, effect }));
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
  Object.assign(picked, { name, line, number: distributions.get(name) });
  showPicked();
  const plot = document.querySelector("#distribution .plot");
  if (window.Plotly) draw(plot);
  plot.closest("aside").scrollIntoView({ block: "nearest" });
}

function showPicked() {
  document.getElementById("distribution-name").replaceChildren(nameOf(picked.name));
  document.getElementById("distribution-about").textContent = figures.distribution[picked.number].caption;
}

/** A cell of CSV; text that a spreadsheet would take for a formula, also in quotes, gets an apostrophe in front. */
function quoted(value) {
  if (typeof value !== "string") return String(value ?? "");
  const formula = /^(?:[=+@-].|[\t\r])/s.test(value) && Number.isNaN(Number(value));
  return `"${formula ? "'" : ""}${value.replaceAll('"', '""')}"`;
}

function downloadTable(table) {
  const keys = Object.keys(table).filter((key) => table[key] !== null);
  const lines = range(table.name.length).map((i) => keys.map((key) => quoted(table[key][i])).join(","));
  const address = URL.createObjectURL(new Blob([[keys.join(","), ...lines, ""].join("\r\n")], { type: "text/csv" }));
  make("a", { href: address, download: "features.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// ---------------------------------------------------------------- quality of columns

/** What is odd about a column, in words. */
function remark({ missing, constant, copy_of: copy }) {
  const words = constant ? ["constant"] : [];
  if (missing === 1) words.push("no value known");
  if (copy !== null) words.push(`the same as ${copy}`);
  return words.join(", ");
}

function setUpQuality(place) {
  const rows = records(facts.features.quality.table);
  const numbers = { number: true, falling: true };
  new Table(place, {
    caption: "Quality of the columns",
    label: "Search columns",
    what: "columns",
    rows,
    text: (row) => `${row.name} ${remark(row)}`,
    columns: [
      { title: "Column", heading: true, value: (row) => row.name, cell: (row) => nameOf(row.name) },
      { title: "Kind", value: (row) => row.kind },
      { title: "Missing", ...numbers, value: (row) => row.missing, cell: (row) => percent(row.missing, 1) },
      { title: "Levels", ...numbers, value: (row) => row.levels, cell: (row) => count(row.levels) },
      { title: "Outliers", ...numbers, value: (row) => row.outliers, cell: (row) => percent(row.outliers, 1) },
      { title: "Remark", falling: true, value: (row) => remark(row), cell: (row) => make("bdi", {}, remark(row)) },
    ],
  });
}

// ---------------------------------------------------------------- honesty

function setUpEstimates() {
  const cells = Array.from(document.querySelectorAll(".strip[data-mean]"));
  const values = cells.map(({ dataset }) => ({ mean: Number(dataset.mean), se: Number(dataset.se) || 0 }));
  const high = Math.max(...values.map(({ mean, se }) => mean + se).filter(Number.isFinite));
  cells.forEach((cell, i) => {
    if (Number.isFinite(values[i].mean)) cell.append(intervalDrawing(values[i], [0, high || 1]));
  });
}

// ---------------------------------------------------------------- commands

function copied(button, text) {
  const word = button.firstChild;
  word.textContent = "Copied";
  document.getElementById("status").textContent = `Copied: ${text}`;
  setTimeout(() => { word.textContent = "Copy"; }, 2000);
}

/** Copies commands; where the page may not use the clipboard, the text is selected for the reader. */
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

const TABLES = { models: setUpLeaderboard, features: setUpFeatures, quality: setUpQuality };

for (const place of document.querySelectorAll("[data-table]")) TABLES[place.dataset.table](place);
setUpEstimates();
setUpCopying();
setUpTheme();
applyTheme();

// Plotly comes after this script, so that the text is shown first.
document.addEventListener("DOMContentLoaded", () => {
  setUpFigures();
  setUpPrinting();
});
