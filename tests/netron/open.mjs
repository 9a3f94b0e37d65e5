// Open models in Netron without a window: `node open.mjs FOLDER MODEL...` prints the resulting graphs as JSON.
//
// FOLDER is a copy of Netron's modules.  Its service selects the reader by the file's contents, as when
// a user opens the file; errors that it reports are errors of the test.
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...models] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
globalThis.window = { addEventListener() {}, removeEventListener() {} };
const { ModelFactoryService } = await load("view.js");
const { BinaryStream } = await load("base.js");

class Context {
  constructor(file) {
    this.identifier = path.basename(file);
    this.entries = new Map();
    this.errors = [];
    this.stream = new BinaryStream(new Uint8Array(fs.readFileSync(file)));
  }
  require(name) { return load(`${name}.js`); }
  asset(file) { return fs.readFileSync(path.join(folder, file), "utf-8"); }
  fetch(file) { throw new Error(`it asks for another file: ${file}`); }
  error(error) { this.errors.push(error.message); }
}

const named = (argument) => ({
  name: argument.name,
  type: argument.type ?? null,
  values: Array.isArray(argument.value)
    ? argument.value.map((value) => ({
        name: value?.name ?? null,
        type: value?.initializer?.type?.toString() ?? value?.type?.toString() ?? null,
      }))
    : [],
});
const told = [];
for (const file of models) {
  const context = new Context(file);
  const host = { require: (name) => context.require(name), event() {}, exception(error) { throw error; } };
  const model = await new ModelFactoryService(host).open(context);
  told.push({
    format: model.format,
    errors: context.errors,
    graphs: model.modules.map((graph) => ({
      inputs: graph.inputs.map(named),
      outputs: graph.outputs.map(named),
      nodes: graph.nodes.map((node) => ({ type: node.type.name, inputs: node.inputs.map(named) })),
    })),
  });
}
console.log(JSON.stringify(told));
