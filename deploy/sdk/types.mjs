// Standard input: an OpenAPI document. Standard output: a TypeScript type for each of its schemas, by openapi-typescript.
// The argument is the folder with node_modules.
import { text } from "node:stream/consumers";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/package.json`);
const { default: convert, astToString } = require("openapi-typescript");
const ts = require("typescript");
const { factory } = ts;

const reference = (name) => factory.createTypeReferenceNode(name);

const document = JSON.parse(await text(process.stdin));
const nodes = await convert(document, {
  // What a request may leave out although it has a default.
  defaultNonNullable: false,
  transform,
});
const components = nodes.find((node) => node.name?.text === "components");
const schemas = components.members.find((member) => member.name.text === "schemas");
process.stdout.write(astToString(schemas.type.members.map(named)));

/** A file, and a list that may grow; undefined for all other schemas. */
function transform(schema) {
  if (schema.format === "binary") return reference("Blob");
  const values = schema["x-extensible-enum"]?.map((value) =>
    factory.createLiteralTypeNode(factory.createStringLiteral(value)),
  );
  return values && factory.createUnionTypeNode([...values, reference("NewerValue")]);
}

/** A property of `schemas` as a type of its own, with its comment. */
function named(property) {
  const { transformed } = ts.transform(property.type, [() => direct]);
  const type = factory.createTypeAliasDeclaration(
    [factory.createModifier(ts.SyntaxKind.ExportKeyword)],
    property.name.text,
    undefined,
    transformed[0],
  );
  return ts.setSyntheticLeadingComments(type, ts.getSyntheticLeadingComments(property));
}

/** Replaces `components["schemas"]["Message"]` by `Message`. */
function direct(node) {
  if (ts.isIndexedAccessTypeNode(node) && ts.isIndexedAccessTypeNode(node.objectType)) {
    return reference(node.indexType.literal.text);
  }
  return ts.visitEachChild(node, direct, undefined);
}
