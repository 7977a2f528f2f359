// The gallery of scenarios, and the import of traces by dropping a file.

import { get, upload } from "./api.js";
import { h, newId, toast } from "./dom.js";
import { duration, number } from "./format.js";
import { describeMap, drawMap } from "./map.js";

export async function worlds() {
  const data = await get("/api/worlds");
  document.getElementById("folder").textContent = data.folder;
  const own = data.worlds.filter((world) => world.local);
  const shipped = data.worlds.filter((world) => !world.local);
  return [
    h("div", { class: "head" }, h("div", {}, h("h1", {}, "Worlds"),
      h("p", { class: "lead" }, "A world is a scenario: an area, nodes that move, their radio, and what is published."))),
    dropZone(),
    data.live.length ? h("p", { class: "note row spread" }, `${data.live.length === 1 ? "A configuration of a live node is" : `Configurations of ${data.live.length} live nodes are`} in this folder.`,
      h("a", { class: "button", href: "#/live" }, "Watch live nodes")) : null,
    own.length ? h("section", {}, h("h2", {}, "In this folder"), gallery(own)) : null,
    h("section", {}, h("h2", {}, "Shipped with Roamcast"), gallery(shipped)),
  ];
}

const gallery = (list) => h("ul", { class: "gallery" }, list.map(card));

function card(world) {
  const name = world.name ?? world.id.split("/").slice(1).join("/");
  const open = `#/world?${new URLSearchParams({ id: world.id })}`;
  const picture = world.map
    ? drawMap(world.map, { small: true, label: `Map: ${describeMap(world.map)}` })
    : h("p", { class: "problem" }, world.problem);
  return h("li", { class: "card" },
    h("a", { class: "picture", href: open, tabindex: "-1", "aria-hidden": "true" }, picture),
    h("div", { class: "body" },
      h("h3", {}, h("a", { href: open }, name)),
      world.map ? h("p", { class: "facts" }, world.local ? chip(world.id.slice(6)) : null, chip(`${number(world.nodes)} nodes`), chip(duration(world.duration)),
        chip(`${number(world.map.width)} × ${number(world.map.height)} m`)) : null,
      world.about ? h("p", { class: "small clamp" }, world.about) : null,
      h("p", { class: "actions" },
        h("a", { class: "button", href: `#/ask?${new URLSearchParams({ world: world.id })}` }, "Compare protocols"),
        h("a", { class: "button quiet", href: open }, world.local ? "Edit" : "Look and edit"))));
}

const chip = (text) => h("span", { class: "chip" }, text);

function dropZone() {
  const id = newId("trace");
  const zone = h("label", { class: "drop", for: id },
    h("b", {}, "Import movement"), " – drop an ns-2, BonnMotion, SUMO or GPS trace here, or choose a file");
  const input = h("input", { type: "file", id, class: "hidden-input", onchange: () => take(input.files[0]) });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  async function take(file) {
    if (!file) return;
    zone.classList.add("busy");
    try {
      const made = await upload("/api/import", file);
      toast(`imported ${number(made.imported.nodes)} nodes`);
      location.hash = `#/world?${new URLSearchParams({ id: made.id })}`;
    } catch (error) {
      toast(error.message, "bad");
    } finally {
      zone.classList.remove("busy");
    }
  }
  return h("div", { class: "dropping" }, input, zone);
}
