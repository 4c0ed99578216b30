// Before the modules of the web client: what a browser is told that cannot run them. Of a kind that every browser reads.
(function () {
  var app = document.getElementById("app");
  var supports = window.HTMLScriptElement && HTMLScriptElement.supports;
  var isOld =
    !supports ||
    !supports.call(HTMLScriptElement, "importmap") ||
    !window.AbortController ||
    !window.CSS ||
    !CSS.supports("color", "color-mix(in srgb, red, blue)");

  function show(id) {
    // What has been drawn stays.
    if (!app.firstChild) document.getElementById(id).hidden = false;
  }

  if (isOld) {
    show("too-old");
    return;
  }
  // A module that is missing, or that fails before the first page is drawn.
  window.addEventListener(
    "error",
    function (event) {
      var isScript = event.target && event.target.tagName === "SCRIPT";
      if (isScript || event.error || event.message) show("not-started");
    },
    true,
  );
  window.addEventListener("unhandledrejection", function () {
    show("not-started");
  });
})();
