export type { DownloadOptions, Progress, UploadOptions } from "./checkpoints.js";
export * from "./client.js";
export * from "./errors.js";
export type { Event } from "./events.js";
export { Held, type HoldOptions, type Node } from "./hold.js";
export { RETRY, type Retry } from "./http.js";
export { NOTICE_FILE, type NodeNotice, type NoticeOptions, readNotice, watchNotices } from "./notices.js";
export { OPERATIONS } from "./operations.js";
export * from "./refusals.js";
