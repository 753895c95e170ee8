// The page to ask: sends questions, follows the steps of an answer, and lights up the place of a figure.
"use strict";

const turns = document.getElementById("turns");
const field = document.getElementById("question");
const message = document.getElementById("message");
const backButton = document.getElementById("back");
let lastFigure = null;

function show(text) {
  message.textContent = text;
  message.hidden = !text;
}

// The reply of the server; what it refuses, and a connection that fails, is a sentence on the page.
async function call(path, options = {}) {
  const reply = await fetch(path, options).catch(() => {
    throw new Error("The server cannot be reached. Is it still running?");
  });
  if (!reply.ok) {
    const body = await reply.json().catch(() => ({}));
    throw new Error(typeof body.detail === "string" ? body.detail : `The server answers ${reply.status}.`);
  }
  return reply;
}

function post(path, body) {
  return call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html").body;

async function place(number) {
  const article = parsed(await (await call(`/turns/${number}`)).text()).firstElementChild;
  document.getElementById("hint")?.remove();
  const before = document.getElementById(`turn-${number}`);
  if (before) before.replaceWith(article);
  else turns.append(article);
  article.scrollIntoView({ block: "nearest" });
  return article;
}

// Follows an answer from its first step: also one that was begun before this page was loaded.
function follow(article) {
  const number = article.dataset.number;
  const list = article.querySelector(".progress");
  const events = new EventSource(`/api/questions/${number}/events`);
  events.addEventListener("open", () => list.replaceChildren());
  events.addEventListener("step", (event) => {
    const item = document.createElement("li");
    item.textContent = JSON.parse(event.data);
    list.append(item);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) show("The connection to the answer has ended. Load the page again.");
  });
  events.addEventListener("done", () => {
    events.close();
    place(number).catch((error) => show(error.message));
  });
}

async function ask(event) {
  event.preventDefault();
  show("");
  const question = field.value.trim();
  if (!question) return;
  try {
    const model = document.getElementById("model")?.checked ?? true;
    const { number } = await (await post("/api/questions", { question, model, wait: false })).json();
    field.value = "";
    const article = await place(number);
    if ("waiting" in article.dataset) follow(article);
  } catch (error) {
    show(error.message);
  }
}

async function upload(files) {
  if (!files.length) return;
  show(`Reading ${files.length === 1 ? files[0].name : `${files.length} files`} …`);
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  try {
    await call("/api/files", { method: "POST", body: form });
    location.reload();
  } catch (error) {
    show(error.message);
  }
}

// The files of a drop, those of a folder too.
async function dropped(entry) {
  if (entry.isFile) return [await new Promise((done, fail) => entry.file(done, fail))];
  const [reader, files] = [entry.createReader(), []];
  const next = () => new Promise((done, fail) => reader.readEntries(done, fail));
  for (let some = await next(); some.length; some = await next()) files.push(...(await all(some))); // 100 at a time
  return files;
}
const all = async (entries) => (await Promise.all(entries.map(dropped))).flat();

function clear() {
  for (const lit of document.querySelectorAll(".lit")) {
    lit.classList.remove("lit");
    lit.textContent = lit.textContent; // without its mark
  }
}

async function light(figure) {
  const { row, column, sentence, start, end, view } = figure.dataset;
  const id = row === undefined ? `s${sentence}` : `r${row}c${column}`;
  const report = document.getElementById("document");
  const place = row === undefined ? `sentence=${sentence}` : `row=${row}&column=${column}`;
  if (!document.getElementById(id)) {
    report.replaceChildren(...parsed(await (await call(`/document?${place}`)).text()).childNodes);
  }
  clear();
  for (const file of report.querySelectorAll(".file")) {
    file.hidden = file.id !== view;
    if (!file.hidden) file.src = `/place?${place}#lit`;
  }
  const target = document.getElementById(id);
  const text = target.textContent;
  const mark = document.createElement("mark");
  mark.textContent = text.slice(start, end);
  target.replaceChildren(text.slice(0, start), mark, text.slice(end));
  target.classList.add("lit");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "center", inline: "center" });
  lastFigure = figure;
  backButton.hidden = false;
}

function back() {
  clear();
  lastFigure?.focus();
  lastFigure?.scrollIntoView({ block: "center" });
  lastFigure = null;
  backButton.hidden = true;
}

document.getElementById("ask").addEventListener("submit", ask);
document.getElementById("files").addEventListener("change", (event) => upload([...event.target.files]));
document.getElementById("reset").addEventListener("click", () =>
  post("/api/reset", {}).then(() => location.reload(), (error) => show(error.message)));
backButton.addEventListener("click", back);

// Writes on the answer's trace whether the user finds it right.
async function judge(button) {
  await post(`/api/questions/${button.closest(".turn").dataset.number}/feedback`, { right: button.dataset.right === "true" });
  for (const other of button.parentNode.querySelectorAll("button")) other.ariaPressed = other === button;
}

turns.addEventListener("click", (event) => {
  const figure = event.target.closest(".figure");
  const thumb = event.target.closest("[data-right]");
  if (figure) light(figure).catch((error) => show(error.message));
  if (thumb) judge(thumb).catch((error) => show(error.message));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input")) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    back();
  }
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("drop");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("drop");
});
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  document.body.classList.remove("drop");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  upload(entries.length ? await all(entries) : event.dataTransfer.files);
});
document.querySelectorAll("[data-waiting]").forEach(follow);
document.querySelector(".turn:last-of-type")?.scrollIntoView({ block: "nearest" });
if (!field.disabled) field.focus();
