import { LIMITS } from "./operations.js";

/** The limits of the server, to check before a request. */
export { LIMITS };

/** A File that the API accepts: the same one, or a smaller copy of a picture that is too large. In browsers only. */
export async function prepareImage(file, { maxBytes = LIMITS.imageBytes, maxSide = LIMITS.imageSide } = {}) {
  const { prepare } = await import("./prepare_image.js");
  return prepare(file, { maxBytes, maxSide, maxPixels: LIMITS.imagePixels, types: LIMITS.imageTypes });
}
