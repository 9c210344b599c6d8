// Draws the charts that page.html.j2 describes, in the colours of page.css, and lets tables be sorted.
"use strict";

const charts = JSON.parse(document.getElementById("json-charts").textContent);
const flames = JSON.parse(document.getElementById("json-flames").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 40rem)");

const symbols = { coroutine: "diamond", emitted: "triangle-up" }; // as in the legend of page.css

function colours() {
    const style = getComputedStyle(document.documentElement);
    return new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`).trim() });
}

// Plotly stands in the page compressed.
async function unpackPlotly() {
    const packed = atob(document.getElementById("packed-plotly").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
}

function axis(spec, colour, more) {
    return {
        type: spec.log ? "log" : "-",
        title: { text: spec.title, font: { size: 12, color: colour.quiet }, standoff: 8 },
        tickfont: { size: 12, color: colour.quiet },
        tickvals: spec.ticks.length ? spec.ticks.map(([value]) => value) : undefined,
        ticktext: spec.ticks.length ? spec.ticks.map(([, text]) => text) : undefined,
        range: spec.range ? spec.range.map((value) => (spec.log ? Math.log10(value) : value)) : undefined,
        gridcolor: colour.grid,
        linecolor: colour.rule,
        zeroline: false,
        fixedrange: true,
        automargin: true,
        ...more,
    };
}

function sharedLayout(height, colour) {
    return {
        height,
        margin: { l: 8, r: 14, t: 8, b: 8 },
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: getComputedStyle(document.body).fontFamily, color: colour.ink },
        showlegend: false,
        dragmode: false,
        hoverlabel: { bgcolor: colour.raised, bordercolor: colour.rule, font: { color: colour.ink, size: 13 } },
    };
}

function layout(chart, colour) {
    const rows = chart.kind === "lines" ? [] : chart.rows;
    const height = { lines: 300, dots: 70 + 21 * rows.length, bars: 60 + 24 * rows.length }[chart.kind];
    const listed = { categoryorder: "array", categoryarray: [...rows].reverse(), ticks: "", type: "category", dtick: 1 };
    const shared = { ...sharedLayout(height, colour), bargap: 0.25, barmode: "overlay" };
    if (chart.kind === "lines") {
        const below = chart.y.log ? {} : { rangemode: "tozero" };
        return {
            ...shared, hovermode: narrow.matches || chart.x.names.length ? "closest" : "x unified",
            xaxis: axis(chart.x, colour), yaxis: axis(chart.y, colour, below),
        };
    }
    return {
        ...shared, hovermode: "closest",
        xaxis: axis(chart.x, colour, { rangemode: "tozero", side: "bottom" }),
        yaxis: axis(chart.y, colour, { ...listed, showgrid: chart.kind === "dots", tickfont: { size: 12, color: colour.ink } }),
    };
}

function text(value) {
    return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function trace(chart, line, colour) {
    const x = line.points.map(([value]) => value);
    const y = line.points.map(([, value]) => value);
    const unit = chart.kind === "lines" ? chart.y.title : chart.x.title;
    const shared = { x, y, name: line.name, cliponaxis: false };
    if (chart.kind === "lines") {
        return {
            ...shared, type: "scatter", mode: "lines+markers",
            line: { color: colour[line.role], width: 2, dash: line.dashed ? "dash" : "solid" },
            marker: { color: line.dashed ? colour.paper : colour[line.role], size: 5, line: { color: colour[line.role], width: 1.5 } },
            customdata: x.map((value) => chart.x.names[value]),
            hovertemplate: chart.x.names.length ? `%{customdata}: %{y:.4~g} ${unit}` : "%{y:.3~g}",
        };
    }
    if (chart.kind === "dots") {
        return {
            ...shared, type: "scatter", mode: "markers",
            marker: {
                symbol: symbols[line.role] ?? "circle", color: colour[line.role], size: 10,
                line: { color: colour.paper, width: 1 },
            },
            hovertemplate: `%{y}, ${line.name}: %{x:.3~g} ${unit}<extra></extra>`,
        };
    }
    return {
        ...shared, type: "bar", orientation: "h",
        marker: { color: colour[line.role] },
        text: x.map(text), textposition: "auto", textangle: 0, insidetextanchor: "end", constraintext: "none",
        textfont: { size: 12 }, insidetextfont: { color: line.role === "floor" ? colour.ink : colour.paper },
        outsidetextfont: { color: colour.ink },
        hovertemplate: `%{y}: %{x:.3~g} ${unit}<extra></extra>`,
    };
}

function draw(chart) {
    const colour = colours();
    const plot = document.querySelector(`#${CSS.escape(chart.id)} .plot`);
    const traces = chart.lines.map((line) => trace(chart, line, colour));
    return Plotly.react(plot, traces, layout(chart, colour), { displayModeBar: false, responsive: true });
}

// The hue and saturation of each kind of frame.
const hues = [
    [28, 85], [205, 70], [130, 42], [48, 80], [262, 60], [345, 70], [175, 50], [85, 50], [230, 65], [310, 50],
    [10, 60], [0, 0], [65, 70], [190, 75], [285, 60], [110, 30], [38, 45], [150, 60], [215, 30], [330, 30],
];

// A kind is a number of `hues`; a difference is from -1, blue, to 1, red.
function frameColour(value, isDifference) {
    if (value === null) return dark.matches ? "#2d333b" : "#dfe3e8";
    if (!isDifference) return `hsl(${hues[value][0]}, ${hues[value][1]}%, ${dark.matches ? 33 : 76}%)`;
    const share = Math.abs(value);
    return `hsl(${value > 0 ? 4 : 213}, ${20 + 60 * share}%, ${dark.matches ? 26 + 24 * share : 86 - 30 * share}%)`;
}

// The frames whose names the search finds are dark, or light on a dark page.
function frameColours(flame, search) {
    const mark = colours().ink;
    return flame.colours.map((value, place) => (
        search && search.test(flame.names[place]) ? mark : frameColour(value, flame.is_difference)));
}

function searchOf(figure) {
    const input = figure.querySelector("input");
    try {
        input.setCustomValidity("");
        return input.value ? new RegExp(input.value, "i") : null;
    } catch (error) {
        input.setCustomValidity(error.message);
        return null;
    }
}

// As much of each name as is likely to fit when the frame `level` is as wide as the graph; Plotly hides what does not.
function labels(flame, level) {
    return flame.names.map((name, place) => {
        const share = Math.min(1, flame.widths[place] / (flame.widths[level] || 1));
        const room = Math.max(12, Math.floor(140 * share));
        return escaped(name.length > room ? `${name.slice(0, room - 1)}…` : name);
    });
}

// Plotly takes some tags in texts for its own.
function escaped(text) {
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function drawFlame(flame) {
    const colour = colours();
    const figure = document.getElementById(flame.id);
    figure.querySelector(".legend").replaceChildren(...flame.legend.map(([value, text]) => {
        const [item, key] = [document.createElement("li"), document.createElement("span")];
        key.className = "key";
        key.style.background = frameColour(value, flame.is_difference);
        item.append(key, text);
        return item;
    }));
    const plot = figure.querySelector(".plot");
    const level = Number(plot.data?.[0].level ?? 0); // the frame that was looked into
    const trace = {
        type: "icicle", branchvalues: "total", sort: false,
        ids: flame.names.map((_, place) => String(place)),
        parents: flame.callers.map((caller) => (caller < 0 ? "" : String(caller))),
        labels: flame.names.map(escaped), values: flame.widths, level: String(level), leaf: { opacity: 1 },
        text: labels(flame, level), textinfo: "text", hovertext: flame.tips.map(escaped), hoverinfo: "text",
        tiling: { orientation: "v", flip: "y", pad: 1 }, // callees stand on their caller
        textposition: "middle left",
        marker: { colors: frameColours(flame, searchOf(figure)), line: { width: 0 } },
        pathbar: { side: "bottom" },
    };
    const shape = {
        ...sharedLayout(60 + 20 * flame.levels, colour),
        uniformtext: { minsize: 11, mode: "hide" }, // names that do not fit
    };
    const isNew = !plot.data;
    const drawn = Plotly.react(plot, [trace], shape, { displayModeBar: false, responsive: true });
    if (isNew) {
        plot.on("plotly_icicleclick", ({ nextLevel }) => {
            const next = Number(nextLevel || 0);
            Plotly.restyle(plot, { level: String(next), text: [labels(flame, next)] });
            return false; // instead of what Plotly would do, which leaves the names as they are
        });
    }
    return drawn;
}

for (const flame of flames) {
    const figure = document.getElementById(flame.id);
    figure.querySelector("input").addEventListener("input", () => {
        const plot = figure.querySelector(".plot");
        if (plot.data) Plotly.restyle(plot, { "marker.colors": [frameColours(flame, searchOf(figure))] });
    });
}

async function drawAll() {
    for (const one of [...charts.map((chart) => () => draw(chart)), ...flames.map((flame) => () => drawFlame(flame))]) {
        await one();
        await new Promise((next) => setTimeout(next)); // the page stays alive meanwhile
    }
    document.documentElement.dataset.drawn = charts.length + flames.length;
}

function showFigures(reason) {
    for (const details of document.querySelectorAll("figure.chart details")) details.open = true;
    for (const plot of document.querySelectorAll(".chart .plot")) plot.textContent = `No chart: ${reason}. Its figures follow.`;
    for (const plot of document.querySelectorAll(".flame .plot")) plot.textContent = `No flame graph: ${reason}.`;
}

function sortBy(heading) {
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
        const text = row.cells[column].textContent;
        const number = heading.classList.contains("number") ? parseFloat(text.replaceAll(",", "")) : NaN; // the first, of a pair
        return isNaN(number) ? text : number;
    };
    // What has no number, or is of another kind, comes last either way.
    const order = (a, b) => {
        const [first, second] = [key(a), key(b)];
        if (typeof first !== typeof second) return typeof first === "number" ? -1 : 1;
        const result = typeof first === "number" ? first - second : first.localeCompare(second);
        return down ? -result : result;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
}

for (const button of document.querySelectorAll("table.sortable th button"))
    button.addEventListener("click", () => sortBy(button.closest("th")));

if (charts.length || flames.length) {
    unpackPlotly().then(() => {
        dark.addEventListener("change", drawAll);
        narrow.addEventListener("change", drawAll);
        return drawAll();
    }).catch((error) => {
        showFigures(error.message);
        console.error(error);
    });
}
