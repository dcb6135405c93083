import "./style.css";
import { render } from "preact";
import { App } from "./live/App";
import { embedded, type Page } from "./model";
import { Report } from "./parts/Report";
import { useTheme } from "./parts/useTheme";
import { speak, t } from "./words";

function ReportPage({ page }: { page: Page }) {
  const [theme, toggle] = useTheme();
  return <Report page={page} theme={theme} onToggle={toggle} />;
}

function speakAs(data: Pick<Page, "language" | "words">): void {
  speak(data);
  document.documentElement.lang = data.language;
  document.querySelector("footer summary")!.textContent = t("Licences of what this page is made with");
}

const page = await embedded(document);
const root = document.getElementById("page");
if (page && root) {
  speakAs(page);
  document.title = `${page.title} · schedlab`;
  render(<ReportPage page={page} />, root);
} else if (root && location.protocol.startsWith("http")) {
  const words = document.getElementById("schedlab-words")?.textContent;
  if (words) speakAs(JSON.parse(words) as Pick<Page, "language" | "words">);
  render(<App />, root);
}
