// Measures what was drawn. Part of tests/browser.rs only.
"use strict";

var box = (element) => element.getBoundingClientRect();
var isShown = (element) => box(element).width > 0;

function luminance(colour) {
  const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// WCAG 2: from 1 to 21.
function contrast(selector, behind, property = "color") {
  const [mark, ground] = [selector, behind].map((one) => document.querySelector(one));
  if (!mark || !ground) return undefined;
  const [one, other] = [
    luminance(getComputedStyle(mark)[property]),
    luminance(getComputedStyle(ground).backgroundColor),
  ].sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05);
}

// Text on the strongest shade of a map, which is half transparent on the map's own background.
function spots() {
  const all = [...document.querySelectorAll(".map td.spot[style]")];
  if (all.length === 0) return {};
  const heat = (spot) => Number(spot.style.getPropertyValue("--heat"));
  const strongest = all.sort((one, other) => heat(other) - heat(one))[0];
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const [red, green, blue, alpha] = parts(getComputedStyle(strongest).backgroundColor);
  const below = parts(getComputedStyle(document.querySelector(".maps")).backgroundColor);
  const mixed = [red, green, blue].map((part, place) => part * alpha + below[place] * (1 - alpha));
  const [one, other] = [
    luminance(getComputedStyle(strongest).color),
    luminance(`rgb(${mixed.join(",")})`),
  ].sort((a, b) => b - a);
  return { strongest_shade: (one + 0.05) / (other + 0.05) };
}

function overlapping(labels) {
  const boxes = labels.map(box).sort((one, other) => one.left - other.left);
  return boxes.filter((one, place) => place > 0 && boxes[place - 1].right > one.left).length;
}

function panel(figure) {
  const labels = [...figure.querySelectorAll(".axis text")].filter(isShown);
  const dots = [...figure.querySelectorAll("circle.dot")].map((dot) => {
    const track = box(dot.closest(".track"));
    const middle = box(dot).left + box(dot).width / 2;
    const value = dot.querySelector("title").textContent.match(/^([\d,.]+) /)[1].replaceAll(",", "");
    return { value: Number(value), place: (middle - track.left) / track.width };
  });
  return {
    name: figure.querySelector("strong").textContent,
    rows: figure.querySelectorAll(".row .track").length,
    bands: figure.querySelectorAll(".row .band").length,
    crosses: [...figure.querySelectorAll(".out path")].filter(isShown).length,
    track_px: box(figure.querySelector(".track")).width,
    ticks: [...figure.querySelectorAll(".axis text")].map((label) => label.textContent),
    labels: labels.length,
    overlapping_labels: overlapping(labels),
    dots,
  };
}

// A row of a comparison: where its ratio and 1 are on the track, and whether all of it is shown in its place.
function comparisonRow(row) {
  const middle = (line) => line && box(line).left + box(line).width / 2;
  const track = row.querySelector(".track");
  const figures = [...row.querySelectorAll("th, td:not(.ratios)")].filter(isShown).map(box);
  return {
    kind: row.className,
    ratio: row.querySelector(".ratio").textContent,
    track_px: track ? box(track).width : 0,
    median: track && middle(track.querySelector(".median")),
    right: Math.max(...figures.map((one) => one.right)),
    overlapping: figures.filter((one, place) => figures.some((other, at) => at > place
      && one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1)).length,
  };
}

// What a click on every summary shows, with what is folded in it.
function openAll() {
  const folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((one) => { one.open = true; });
  return folded.length;
}

function summaryOf(details) {
  return details.querySelector("summary").textContent.trim();
}

// Parts of opened details that reach beyond the window, unless a region around them scrolls.
function tooWide() {
  const parts = [...document.querySelectorAll("details *")].filter((part) => !part.closest(".scroll, pre, svg, .facet") && isShown(part));
  return parts.filter((part) => box(part).right > innerWidth + 0.5).map((part) => `${part.tagName}.${part.className}`);
}

// Regions that scroll sideways.
function scrolling() {
  const scrolls = (part) => /auto|scroll/.test(getComputedStyle(part).overflowX) && part.scrollWidth > part.clientWidth + 1;
  return [...document.querySelectorAll("body *")].filter((part) => !part.closest("svg") && isShown(part) && scrolls(part));
}

// A name by which a place of the focus is known again.
function place(part) {
  const all = [...document.querySelectorAll("body *")];
  return `${all.indexOf(part)} ${part.tagName} ${part.getAttribute("aria-label") ?? part.textContent.trim().slice(0, 60)}`;
}

function focused() {
  const part = document.activeElement;
  if (!part || part === document.body || part === document.documentElement) return null;
  const style = getComputedStyle(part);
  return {
    place: place(part),
    is_folded: part.tagName === "SUMMARY" && !part.parentElement.open,
    outline_px: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    // Scrolled into view.
    is_shown: box(part).bottom > 0 && box(part).top < innerHeight && box(part).right > 0 && box(part).left < innerWidth,
  };
}

// All that a reader without a mouse must reach.
function reachable() {
  const parts = [...document.querySelectorAll("summary, a[href], pre[tabindex]"), ...scrolling()];
  return [...new Set(parts.filter(isShown).map(place))];
}

// What is folded, and how much of it is drawn on the medium.
function drawnDetails() {
  return [...document.querySelectorAll("details")].map((details) => {
    const inside = [...details.children].filter((child) => child.tagName !== "SUMMARY");
    return {
      summary: summaryOf(details),
      text: details.textContent.trim(),
      is_open: details.open,
      height_px: Math.max(0, ...inside.map((child) => (child.checkVisibility({ contentVisibilityAuto: true }) ? box(child).height : 0))),
    };
  });
}

function measured() {
  const figures = [...document.querySelectorAll(".panel")];
  const widest = [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".scroll, pre, svg"))
    .sort((one, other) => box(other).right - box(one).right)[0];
  return {
    width: innerWidth,
    overflow_px: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    widest: `${widest.tagName}.${widest.className}`,
    is_dark: luminance(getComputedStyle(document.body).backgroundColor) < 0.2,
    // Each map is whole, and no figure leaves its place.
    maps: [...document.querySelectorAll(".map")].map((map) => ({
      right: box(map).right,
      spots: map.querySelectorAll("td.spot[style]").length,
      overflowing: [...map.querySelectorAll("td.spot b")].filter((figure) => box(figure).right > box(figure.parentElement).right + 1).length,
      heats: [...map.querySelectorAll("td.spot[style]")].map((spot) => Number(spot.style.getPropertyValue("--heat"))),
      alphas: [...map.querySelectorAll("td.spot[style]")].map((spot) => Number(getComputedStyle(spot).backgroundColor.match(/[\d.]+/g)[3])),
    })),
    // Landmarks and sections without a name, tables without a caption, and ways in by keyboard.
    unnamed: [...document.querySelectorAll("section")].filter((part) => !document.getElementById(part.getAttribute("aria-labelledby"))).length,
    without_caption: [...document.querySelectorAll("table")].filter((table) => !table.caption).length,
    without_scope: [...document.querySelectorAll("th:not([scope])")].length,
    dead_links: [...document.querySelectorAll("a[href^='#']")].filter((link) => !document.querySelector(link.getAttribute("href"))).length,
    landmarks: ["header", "nav", "main", "footer"].filter((name) => document.querySelectorAll(`body > ${name}`).length === 1).length,
    duplicate_ids: [...document.querySelectorAll("[id]")].map((one) => one.id).filter((id, place, all) => all.indexOf(id) !== place),
    panels_per_line: figures.filter((figure) => box(figure).top === box(figures[0]).top).length,
    panels: figures.map(panel),
    // Of what the page has.
    contrasts: Object.fromEntries(Object.entries({
      text: contrast("h1", "body"),
      soft: contrast("p.soft", "body"),
      best: contrast(".row.best .stack", ".panel"),
      dots: contrast("circle.dot", ".panel", "fill"),
      note: contrast(".simulated", ".simulated"),
      bad: contrast(".out", ".panel", "stroke"),
      supported: contrast(".claim.supported .verdict-word", "body"),
      effect: contrast(".row .effect", ".panel"),
      faster: contrast(".between .faster .verdict-word", ".scroll"),
      slower: contrast(".between .slower .verdict-word", ".scroll"),
      faster_stroke: contrast(".between .faster .median", ".scroll", "stroke"),
      slower_stroke: contrast(".between .slower .median", ".scroll", "stroke"),
      measured: contrast(".between th .soft", ".scroll"),
      ...spots(),
    }).filter(([, contrast]) => contrast !== undefined)),
    comparison: [...document.querySelectorAll(".between tr:is(.faster, .slower, .equal, .noise, .few)")].map(comparisonRow),
  };
}
