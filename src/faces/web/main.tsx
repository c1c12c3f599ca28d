import { render } from "preact";
import { WebPage } from "./web-page.tsx";

render(<WebPage />, document.body);
