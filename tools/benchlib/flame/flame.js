// A click (or Enter) makes a frame as wide as the graph, Escape or "reset" shows all again. Arrow keys go to the caller,
// the callee and the neighbours. The search marks every frame with a name that contains the text, and shows their
// share.
(() => {
    "use strict";
    const svg = document.currentScript.closest("svg");
    const character = Number(svg.dataset.character);
    const frames = [...svg.querySelectorAll(".frame")].map((group) => ({
        group,
        rect: group.querySelector("rect"),
        text: group.querySelector("text"),
        name: group.dataset.name,
        left: Number(group.dataset.left),
        width: Number(group.dataset.width),
        depth: Number(group.dataset.depth),
        tip: group.getAttribute("aria-label"),
    }));
    const byGroup = new Map(frames.map((frame) => [frame.group, frame]));
    const detail = svg.querySelector(".detail");
    const form = svg.querySelector("form");
    const input = svg.querySelector("input");
    const output = svg.querySelector("output");
    const height = svg.viewBox.baseVal.height;
    const tiny = 1e-5;
    const titleText = svg.querySelector(".title").textContent;
    let zoomed = frames[0];

    const contains = (outer, inner) =>
        inner.left >= outer.left - tiny && inner.left + inner.width <= outer.left + outer.width + tiny;

    const label = (frame, width) => {
        const room = Math.floor((width - 8) / character);
        if (frame.name.length <= room) return frame.name;
        return room >= 4 ? frame.name.slice(0, room - 1) + "\u2026" : "";
    };

    function draw() {
        const width = svg.clientWidth || svg.viewBox.baseVal.width;
        placeHead(width);
        for (const frame of frames) {
            const isBelow = frame.depth < zoomed.depth && contains(frame, zoomed);
            const isShown = isBelow || (frame.depth >= zoomed.depth && contains(zoomed, frame));
            frame.group.classList.toggle("hidden", !isShown);
            frame.group.classList.toggle("below", isBelow);
            if (!isShown) continue;
            const x = isBelow ? 0 : ((frame.left - zoomed.left) / zoomed.width) * width;
            const w = isBelow ? width : (frame.width / zoomed.width) * width;
            frame.rect.setAttribute("x", x);
            frame.rect.setAttribute("width", Math.max(w - 0.5, 0.2));
            frame.text.setAttribute("x", x + 4);
            frame.text.textContent = label(frame, w);
        }
    }

    // In as many lines as it takes; how many those are.
    function wrapTitle(title, width) {
        const lines = [""];
        for (const word of titleText.split(" ")) {
            const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
            title.textContent = longer;
            if (lines.at(-1) && title.getComputedTextLength() + 16 > width) lines.push(word);
            else lines[lines.length - 1] = longer;
        }
        title.replaceChildren(...lines.map((line, i) => {
            const span = document.createElementNS(svg.namespaceURI, "tspan");
            span.setAttribute("x", 8);
            span.setAttribute("dy", i ? 20 : 0);
            span.textContent = i < lines.length - 1 ? `${line} ` : line;
            return span;
        }));
        return lines.length;
    }

    // Where there is no room for title, field and legend in two rows, the graph grows upwards.
    function placeHead(width) {
        const title = svg.querySelector(".title");
        const tools = svg.querySelector(".tools");
        const room = Math.min(420, width);
        title.textContent = titleText;
        const isNarrow = title.getComputedTextLength() + 260 > width;
        const entries = [...svg.querySelectorAll(".legend > g")];
        const places = [];
        let left = 8;
        let line = 0;
        for (const entry of entries) {
            const next = left + Number(entry.dataset.width);
            if (next > width && left > 8) {
                left = 8;
                line += 1;
            }
            places.push([left, line]);
            left += Number(entry.dataset.width);
        }
        const below = 20 * (wrapTitle(title, width) - 1);
        const more = 16 * line + (isNarrow ? 28 : 0) + below;
        svg.setAttribute("viewBox", `0 ${-more} ${width} ${height + more}`);
        svg.setAttribute("height", height + more);
        const ground = svg.querySelector(".ground");
        ground.setAttribute("y", -more);
        ground.setAttribute("height", height + more);
        title.setAttribute("y", 20 - more);
        tools.setAttribute("x", width - room);
        tools.setAttribute("width", room);
        tools.setAttribute("y", (isNarrow ? 28 + below : 2) - more);
        entries.forEach((entry, i) => {
            entry.setAttribute("transform", `translate(${places[i][0]} ${36 - 16 * (line - places[i][1])})`);
        });
    }

    function zoom(frame) {
        zoomed = frame;
        draw();
    }

    function search() {
        let pattern = null;
        try {
            pattern = input.value ? new RegExp(input.value, "i") : null;
            input.setCustomValidity("");
        } catch (error) {
            input.setCustomValidity(error.message);
        }
        // Of frames that stand on each other, the lowest counts.
        let share = 0;
        let end = 0;
        for (const frame of [...frames].sort((a, b) => a.left - b.left || a.depth - b.depth)) {
            const isFound = pattern !== null && pattern.test(frame.name);
            frame.group.classList.toggle("found", isFound);
            if (isFound && frame.left >= end - tiny) {
                share += frame.width;
                end = frame.left + frame.width;
            }
        }
        output.textContent = pattern === null ? "" : `${(share * 100).toFixed(1)} %`;
    }

    const neighbour = (frame, key) => {
        const visible = frames.filter((other) => !other.group.classList.contains("hidden"));
        const level = visible.filter((other) => other.depth === frame.depth);
        const place = level.indexOf(frame);
        switch (key) {
            case "ArrowLeft": return level[place - 1];
            case "ArrowRight": return level[place + 1];
            case "ArrowUp": return visible.find((o) => o.depth === frame.depth + 1 && contains(frame, o));
            case "ArrowDown": return visible.find((o) => o.depth === frame.depth - 1 && contains(o, frame));
        }
        return undefined;
    };

    const frameOf = (event) => byGroup.get(event.target.closest?.(".frame"));
    const say = (event) => { detail.textContent = frameOf(event)?.tip ?? ""; };
    svg.addEventListener("mouseover", say);
    svg.addEventListener("focusin", say);
    svg.addEventListener("click", (event) => {
        const frame = frameOf(event);
        if (frame) zoom(frame);
    });
    svg.addEventListener("keydown", (event) => {
        const frame = frameOf(event);
        if (event.key === "Escape") {
            zoom(frames[0]);
        } else if (frame && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            zoom(frame);
        } else if (frame && event.key.startsWith("Arrow")) {
            event.preventDefault();
            neighbour(frame, event.key)?.group.focus();
        }
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
        input.value = "";
        search();
        zoom(frames[0]);
    });
    input.addEventListener("input", search);
    window.addEventListener("resize", draw);
    draw();
})();
