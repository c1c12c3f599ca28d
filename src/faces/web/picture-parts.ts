/** One lazy module: it is loaded when the first chart is opened. */
export { ContextPicture } from "./pictures/context-view.tsx";
export { FilesView } from "./pictures/files-view.tsx";
export { ReplayView } from "./pictures/replay-view.tsx";
export { Statistics } from "./pictures/stats-view.tsx";
export { TimelinePicture } from "./pictures/timeline-view.tsx";
