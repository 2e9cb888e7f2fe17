// How a person works a page: with a mouse, with a finger, or with the keyboard alone.
import assert from "node:assert/strict";

const TOO_MANY_TABS = 250;
const DIALOG_MILLIS = 30_000;

/** Opens the browser's dialog and chooses files; like a person who sees none, this presses again, and says so. */
async function chooseFiles(page, press, files) {
  for (let left = 3; ; left--) {
    const dialog = page.waitForEvent("filechooser", { timeout: DIALOG_MILLIS }).catch((error) => error);
    await press();
    const chooser = await dialog;
    if (!(chooser instanceof Error)) {
      await chooser.setFiles(files);
      return;
    }
    console.log(`no dialog for ${files} came within ${DIALOG_MILLIS} ms`);
    assert.ok(left > 1, chooser.message);
  }
}

/** With a pointer: a mouse, or a finger where the browser is a phone's. */
export function pointer(page, isTouch) {
  return {
    press: (control) => (isTouch ? control.tap() : control.click()),
    fill: (field, text) => field.fill(text),
    check: (box) => box.check(),
    choose: (list, value) => list.selectOption(value),
    async files(field, ...files) {
      // What is pressed is the label: the field itself may be too small to hit.
      const label = page.getByText(await field.evaluate((one) => one.labels[0].firstChild.textContent.trim()));
      // A list that comes while the button is down would move it away from under the pointer.
      await page.waitForLoadState("networkidle");
      await chooseFiles(page, () => (isTouch ? label.tap() : label.click()), files);
    },
  };
}

/** With keys alone: each control is gone to with Tab, and must show that it has the focus. */
export function keyboard(page) {
  async function go(control) {
    await control.waitFor();
    for (let i = 0; i < TOO_MANY_TABS; i++) {
      const at = await control.evaluate(focusOn);
      assert.notEqual(at, "unseen", `${control}: one does not see that it has the focus`);
      if (at === "there") {
        return;
      }
      // Within a group, such as one of radio buttons or tabs, arrows lead on.
      await page.keyboard.press(at === "within" ? "ArrowRight" : "Tab");
    }
    assert.fail(`the Tab key does not lead to ${control}`);
  }
  return {
    async press(control) {
      await go(control);
      await page.keyboard.press("Enter");
    },
    async fill(field, text) {
      await go(field);
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.keyboard.insertText(text);
    },
    async check(box) {
      await go(box);
      if (!(await box.isChecked())) {
        await page.keyboard.press("Space");
      }
    },
    async choose(list, value) {
      await go(list);
      // A closed list takes the option whose name is typed. It forgets the letters before a pause of a second, which a
      // busy machine makes between two of them, so no more are typed than tell the option from the others.
      const label = await list.locator(`option[value="${value}"]`).textContent();
      await page.keyboard.type(beginning(label, await list.locator("option").allTextContents()));
      assert.equal(await list.inputValue(), value);
    },
    async files(field, ...files) {
      await page.waitForLoadState("networkidle");
      const enter = async () => {
        await go(field);
        await page.keyboard.press("Enter");
      };
      await chooseFiles(page, enter, files);
    },
  };
}

/** As many of the first letters of `label` as no other of `labels` begins with. */
function beginning(label, labels) {
  const [sought, ...all] = [label, ...labels].map((one) => one.trim().toLowerCase());
  for (let length = 1; length < sought.length; length++) {
    const letters = sought.slice(0, length);
    if (all.filter((one) => one.startsWith(letters)).length === 1) {
      return letters;
    }
  }
  return sought;
}

/** Where the focus is, seen from `control`; and that one sees it. */
function focusOn(control) {
  const at = document.activeElement;
  if (at === control) {
    // A file's field may be hidden behind its label, which shows the focus for it.
    const isSeen = [control, control.closest("label")].some((one) => {
      const style = one && getComputedStyle(one);
      return style && (style.outlineStyle !== "none" || style.boxShadow !== "none");
    });
    return isSeen ? "there" : "unseen";
  }
  const group = control.closest("[role=tablist], [role=radiogroup], [role=menu], [role=listbox]");
  const sameRadio = at?.type === "radio" && control.type === "radio" && at.name === control.name;
  return sameRadio || (group && at !== document.body && group.contains(at)) ? "within" : "elsewhere";
}
