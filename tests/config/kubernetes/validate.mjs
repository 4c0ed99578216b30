// node validate.mjs documents.json: each wrong document as a line, by the schema of its apiVersion and kind.
import { readFileSync } from "node:fs";

for (const document of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const [group, version] = document.apiVersion.includes("/") ? document.apiVersion.split("/") : ["", document.apiVersion];
  const path = group ? `${group}/${version}` : version;
  const { [document.kind]: Model } = await import(`kubernetes-models/${path}/${document.kind}`);
  try {
    new Model(document).validate();
  } catch (error) {
    console.log(`${document.kind} ${document.metadata?.name}: ${error.message}`);
  }
}
