// Measures what was drawn and sends it to the page around this one. Part of tests/browser.rs only.
"use strict";

const box = (element) => element.getBoundingClientRect();
const isShown = (element) => box(element).width > 0;

function luminance(colour) {
  const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// WCAG 2: from 1 to 21.
function contrast(selector, behind, property = "color") {
  const [one, other] = [
    luminance(getComputedStyle(document.querySelector(selector))[property]),
    luminance(getComputedStyle(document.querySelector(behind)).backgroundColor),
  ].sort((a, b) => b - a);
  return (one + 0.05) / (other + 0.05);
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
    const value = dot.querySelector("title").textContent.match(/: ([\d,.]+) /)[1].replaceAll(",", "");
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

addEventListener("load", () => {
  const figures = [...document.querySelectorAll(".panel")];
  const widest = [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".scroll, pre, svg"))
    .sort((one, other) => box(other).right - box(one).right)[0];
  parent.postMessage(JSON.stringify({
    width: innerWidth,
    overflow_px: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    widest: `${widest.tagName}.${widest.className}`,
    is_dark: luminance(getComputedStyle(document.body).backgroundColor) < 0.2,
    panels_per_line: figures.filter((figure) => box(figure).top === box(figures[0]).top).length,
    panels: figures.map(panel),
    contrasts: {
      text: contrast("h1", "body"),
      soft: contrast("p.soft", "body"),
      best: contrast(".row.best .stack", ".panel"),
      dots: contrast("circle.dot", ".panel", "fill"),
      note: contrast(".simulated", ".simulated"),
      bad: contrast(".out", ".panel", "stroke"),
    },
  }), "*");
});
