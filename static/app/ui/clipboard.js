// Rejects, too, where there is no clipboard: browsers have one on https and on the own machine only.
export const copyText = async (text) => navigator.clipboard.writeText(text);
