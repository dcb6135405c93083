import { useLayoutEffect, useState } from "preact/hooks";
import { dark, light, type Theme } from "../theme";

function preferred(): "light" | "dark" {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The reader's theme until another is asked for; the styles follow it. */
export function useTheme(): [Theme, () => void] {
  const [name, setName] = useState(preferred);
  // Before anything is painted, so that no reader sees the other theme flash.
  useLayoutEffect(() => {
    document.documentElement.dataset["theme"] = name;
  }, [name]);
  return [name === "dark" ? dark : light, () => setName(name === "dark" ? "light" : "dark")];
}
