// Copies and downloads the recovery codes of the page. Without this script they can still be read and printed.
const codes = [...document.querySelectorAll(".static-codes li")].map((item) => item.textContent).join("\n") + "\n";
const copied = document.getElementById("codes-copied");

document.getElementById("copy-codes").addEventListener("click", async () => {
  await navigator.clipboard.writeText(codes);
  copied.textContent = copied.dataset.text;
});
document.getElementById("download-codes").href = URL.createObjectURL(new Blob([codes], { type: "text/plain" }));
document.getElementById("codes-tools").hidden = false;
