/** Tells in passing that something was done. Readers of the screen hear it, too. @param {string} text */
export function toast(text) {
  const region = document.getElementById('toasts');
  if (!region) {
    return;
  }
  const item = document.createElement('p');
  item.textContent = text;
  region.append(item);
  setTimeout(() => item.remove(), 6000);
}
