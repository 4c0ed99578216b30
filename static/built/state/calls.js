import '../first.js';
export { dismiss, isMissed, peerOf, useCall, usePeer } from '../pages/chats.js';
