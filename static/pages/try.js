// "Try it": builds a request from the form of an operation, sends it to this server and shows the reply.

import { browserStorage, SafeStorage } from "../sdk/parley/storage.js";

const kept = new SafeStorage(browserStorage("sessionStorage"));
const KEY = "parley-docs-token";

const authorize = document.getElementById("authorize");

const keptToken = () => kept.getItem(KEY) ?? "";

const useToken = (token) => {
  kept.setItem(KEY, token);
  for (const input of document.querySelectorAll('.try[data-needs="bearer"] [data-in="bearer"]')) input.value = token;
};

const address = (section, inputs) => {
  let path = section.dataset.path;
  const query = new URLSearchParams();
  for (const input of inputs) {
    const { in: place, name } = input.dataset;
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    if (place === "query" && input.value !== "") query.set(name, input.value);
  }
  return path + (`${query}` ? `?${query}` : "");
};

const request = (section, inputs) => {
  const headers = {};
  let body;
  const form = new FormData();
  for (const input of inputs) {
    const { in: place, name } = input.dataset;
    if (place === "bearer" && input.value) headers.Authorization = `Bearer ${input.value.trim()}`;
    if (place === "header" && input.value) headers[name] = input.value;
    if (place === "body" && input.value.trim()) {
      headers["Content-Type"] = "application/json";
      body = input.value;
    }
    if (place === "form") {
      if (input.type === "file") {
        if (input.files[0]) form.set(name, input.files[0]);
      } else if (input.value) form.set(name, input.value);
      body = form;
    }
  }
  return { method: section.dataset.method, headers, body };
};

const shown = async (response) => {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("application/json")) return `${(await response.blob()).size} bytes of ${type || "nothing"}`;
  const text = await response.text();
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

for (const section of document.querySelectorAll(".try")) {
  section.hidden = false;
  const state = section.querySelector(".try-state");
  const reply = section.querySelector("pre");
  const inputs = [...section.querySelectorAll("[data-in]")];
  section.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    state.textContent = "Sending …";
    reply.hidden = true;
    const started = performance.now();
    try {
      const response = await fetch(address(section, inputs), request(section, inputs));
      const text = await shown(response);
      state.textContent = `Status ${response.status}, ${Math.round(performance.now() - started)} ms`;
      reply.querySelector("code").textContent = text;
      reply.hidden = false;
    } catch (error) {
      state.textContent = `The request failed: ${error.message}`;
    }
  });
}
useToken(keptToken());

if (authorize) {
  const input = document.getElementById("authorize-token");
  const state = document.getElementById("authorize-state");
  authorize.hidden = false;
  input.value = keptToken();
  const authorizeWith = (token) => {
    input.value = token;
    useToken(token);
    state.textContent = token ? "The token is set for all requests below." : "The token was removed.";
  };
  authorize.addEventListener("submit", (event) => {
    event.preventDefault();
    authorizeWith(input.value.trim());
  });
  for (const button of authorize.querySelectorAll("[data-email]")) {
    button.addEventListener("click", async () => {
      const { email, password } = button.dataset;
      try {
        const response = await fetch("/api/v1/auth/login", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ email, password }),
        });
        const body = await response.json();
        if (body.token) authorizeWith(body.token);
        else state.textContent = body.message ?? "Two-step verification is on.";
      } catch (error) {
        state.textContent = `The request failed: ${error.message}`;
      }
    });
  }
}
