import { useMemo, useState } from "preact/hooks";
import type { Choice } from "../figures/figure";
import type { Theme } from "../theme";
import { t } from "../words";
import { FigureCard } from "./FigureCard";

/** One of many: a page with a figure for each cell of a large campaign is no page. */
export function Chooser({ label, choices, theme }: { label: string; choices: Choice[]; theme: Theme }) {
  const [chosen, setChosen] = useState(0);
  const choice = choices[chosen];
  const figures = useMemo(() => choice?.figures() ?? [], [choice]);
  if (!choice) return null;
  return (
    <>
      {choices.length > 1 && (
        <p class="paper">
          {label} {choice.name}. {t("This is one of {count}; the page on a screen has them all.", { count: choices.length })}
        </p>
      )}
      {choices.length > 1 && (
        <label class="choice">
          {label}{" "}
          <select onChange={(event) => setChosen(event.currentTarget.selectedIndex)} value={String(chosen)}>
            {choices.map(({ name }, index) => (
              <option key={name} value={String(index)}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <div class="grid">
        {figures.map((figure) => (
          <FigureCard key={figure.id} figure={figure} theme={theme} />
        ))}
      </div>
    </>
  );
}
