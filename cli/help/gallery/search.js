// The search field and the buttons that copy commands. The index, GPUIMG_INDEX, is a list of
// [title, summary, address, words of other programs, names of options, further words]; it needs no server.
"use strict";

const root = document.documentElement.dataset.root || "";
const form = document.querySelector(".search");
const input = form.querySelector("input");
const hits = form.querySelector(".hits");
let chosen = -1;

// Lower case, one spelling of colour, blanks for hyphens and underscores.
const plain = text => text.toLowerCase().replace(/colour/g, "color").replace(/[-_\s]+/g, " ");
const pages = GPUIMG_INDEX.map(entry => entry.map((text, i) => i === 2 ? text : " " + plain(text)));

// Returns the weight of the best place that has the word: title, words of other programs, summary, options, other text. A whole
// word counts twice.
function weigh(page, word) {
    const weights = [64, 32, 0, 64, 8, 2];
    let best = 0;
    for (const [i, text] of page.entries()) {
        const at = i === 2 ? -1 : text.indexOf(" " + word);
        if (at >= 0)
            best = Math.max(best, weights[i] * (/^[a-z0-9]/.test(text.slice(at + word.length + 1)) ? 1 : 2));
    }
    return best;
}

function find(query) {
    const words = plain(query).trim().split(" ").filter(Boolean);
    const found = [];
    for (const [i, page] of pages.entries()) {
        const weights = words.map(word => weigh(page, word));
        if (words.length && weights.every(w => w > 0))
            found.push([weights.reduce((a, b) => a + b) * (page[2].includes("#") ? 1 : 2.1), i]); // commands before their examples
    }
    return found.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 12).map(([, i]) => GPUIMG_INDEX[i]);
}

function show() {
    const found = find(input.value);
    chosen = -1;
    hits.replaceChildren(...found.map(([title, summary, address]) => {
        const link = document.createElement("a"), about = document.createElement("span"), item = document.createElement("li");
        link.href = root + address;
        link.textContent = title;
        about.textContent = summary;
        link.append(about);
        item.append(link);
        return item;
    }));
    if (!found.length) {
        const item = document.createElement("li");
        item.className = "none";
        item.textContent = "No command, option, example or task has these words.";
        hits.append(item);
    }
    hits.hidden = !input.value.trim();
}

function choose(step) {
    const items = [...hits.querySelectorAll("li:not(.none)")];
    chosen = items.length ? (chosen + step + items.length) % items.length : -1;
    items.forEach((item, i) => item.classList.toggle("on", i === chosen));
    if (chosen >= 0)
        items[chosen].scrollIntoView({block: "nearest"});
}

form.hidden = false;
input.addEventListener("input", show);
input.addEventListener("focus", show);
form.addEventListener("submit", event => {
    event.preventDefault();
    const link = hits.querySelectorAll("a")[Math.max(chosen, 0)];
    if (link && !hits.hidden)
        location.href = link.href;
});
form.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        choose(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
        hits.hidden = true;
        input.blur();
    }
});
document.addEventListener("click", event => {
    if (!form.contains(event.target))
        hits.hidden = true;
});
document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== input) {
        event.preventDefault();
        input.focus();
    }
});

for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
        const code = button.parentElement.querySelector("code");
        try {
            await navigator.clipboard.writeText(code.textContent);
            button.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(code);
            button.textContent = "Press Ctrl-C";
        }
        setTimeout(() => button.textContent = "Copy", 1500);
    });
}
