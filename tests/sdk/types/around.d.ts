// What the blocks of the guide take from their surroundings: values, and functions of the app.
declare const parley: import("../../../static/sdk/parley.js").Parley;
declare const email: string, password: string, second: string, action_token: string;
declare const current_password: string, new_password: string;
declare const file: File;
declare const remoteVideo: HTMLVideoElement, ownVideo: HTMLVideoElement, label: HTMLElement;
declare function show(...values: unknown[]): void;
declare function loadEverything(): void;
declare function drawList(conversations: unknown): void;
declare function drawBadge(count: number): void;
declare function drawMessages(messages: unknown): void;
declare function banner(status: import("../../../static/sdk/parley.js").Status, retryAt?: number): void;
declare function showWaiting(items: import("../../../static/sdk/parley.js").OutboxItem[]): void;
declare function replace(client_id: string, message: import("../../../static/sdk/parley.js").api.Message): void;
declare function ring(call: import("../../../static/sdk/parley.js").Call): void;
declare function report(error: import("../../../static/sdk/parley.js").ParleyError): void;
