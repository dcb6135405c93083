/**
 * Colours, checked for contrast (WCAG) and for the colour-blind (Machado 2009). Verdict colours
 * serve verdicts alone, never a series.
 */
export interface Theme {
  name: "light" | "dark";
  panel: string;
  ink: string;
  muted: string;
  grid: string;
  band: string;
  series: readonly string[];
  better: string;
  worse: string;
  neutral: string;
  /** Nine steps from much worse to much better, for heat maps. */
  diverging: readonly string[];
  /** What is read on each of those steps. */
  onDiverging: readonly string[];
  /** Five steps of one hue, the more the stronger: no verdict has it. */
  queue: readonly string[];
}

const steps = (outer: string, inner: string): string[] =>
  Array.from({ length: 9 }, (_, step) => (step <= 1 || step >= 7 ? outer : inner));

export const light: Theme = {
  name: "light",
  panel: "#ffffff",
  ink: "#1b2230",
  muted: "#5b6577",
  grid: "#dfe3ea",
  band: "#eceff4",
  series: ["#3A3F4D", "#7A2BE0", "#8A7A68", "#6B1F10", "#0F766E", "#B07A00"],
  better: "#0072B2",
  worse: "#C24E00",
  neutral: "#6b7280",
  diverging: [
    "#8a3800", "#b3560f", "#e89a63", "#f5cfb3", "#eef0f3", "#bcdcf0", "#7ab8de", "#2878ad", "#0b4f7d",
  ],
  onDiverging: steps("#ffffff", "#1b2230"),
  queue: ["#eceff4", "#d5c8f0", "#ab92e0", "#7a54c7", "#42208c"],
};

export const dark: Theme = {
  name: "dark",
  panel: "#171c23",
  ink: "#e6e9ef",
  muted: "#9aa5b5",
  grid: "#2b323d",
  band: "#222933",
  series: ["#D5EEE0", "#C65CFF", "#8A8A7A", "#FFDD33", "#4FD1C5", "#B8C0CC"],
  better: "#56B4E9",
  worse: "#F28E3C",
  neutral: "#98a1ae",
  diverging: [
    "#ffb27a", "#e08845", "#8f4f20", "#5f3d25", "#262d37", "#1f4560", "#2a6c99", "#4a9fd4", "#9ad4fb",
  ],
  onDiverging: steps("#11151a", "#e6e9ef"),
  queue: ["#222933", "#43366b", "#6d53ad", "#9d82e0", "#d9ccff"],
};
