/** All pictures in one module, loaded when the first of them is viewed. */
export { ContextPicture } from "./pictures/context-view.tsx";
export { FilesView } from "./pictures/files-view.tsx";
export { ReplayView } from "./pictures/replay-view.tsx";
export { Statistics } from "./pictures/stats-view.tsx";
export { TimelinePicture } from "./pictures/timeline-view.tsx";
