import "./style.css";
import { render } from "preact";
import { App } from "./live/App";
import { embedded, type Page } from "./model";
import { Report } from "./parts/Report";
import { useTheme } from "./parts/useTheme";

function ReportPage({ page }: { page: Page }) {
  const [theme, toggle] = useTheme();
  return <Report page={page} theme={theme} onToggle={toggle} />;
}

const page = await embedded(document);
const root = document.getElementById("page");
if (page && root) {
  document.title = `${page.title} · schedlab`;
  render(<ReportPage page={page} />, root);
} else if (root && location.protocol.startsWith("http")) {
  render(<App />, root);
}
