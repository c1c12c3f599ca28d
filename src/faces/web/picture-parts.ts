/** All pictures in one place, loaded when the first of them is looked at. */
export { ContextPicture } from "./pictures/context-view.tsx";
export { FilesView } from "./pictures/files-view.tsx";
export { ReplayView } from "./pictures/replay-view.tsx";
export { Statistics } from "./pictures/stats-view.tsx";
export { TimelinePicture } from "./pictures/timeline-view.tsx";
