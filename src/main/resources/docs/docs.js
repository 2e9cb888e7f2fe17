// The search box of the documentation: "/" goes there, Enter opens the first that was found.
(() => {
  const box = document.getElementById('search');
  const list = document.getElementById('found');
  let entries = null;

  const load = () => {
    entries ??= fetch('/docs/search.json').then(answer => answer.json()).catch(() => {
      entries = null;
      return [];
    });
    return entries;
  };

  // Every word must occur; an entry whose title has them stands before one whose text does.
  const find = (all, words) =>
    all
      .filter(entry => words.every(word => entry.words.includes(word)))
      .map(entry => {
        const title = entry.title.toLowerCase();
        return { entry, rank: words.filter(word => !title.includes(word)).length };
      })
      .sort((a, b) => a.rank - b.rank)
      .slice(0, 12)
      .map(each => each.entry);

  const item = entry => {
    const link = document.createElement('a');
    link.href = entry.path;
    link.textContent = entry.title;
    const place = document.createElement('span');
    place.textContent = entry.place;
    link.append(place);
    const row = document.createElement('li');
    row.append(link);
    return row;
  };

  const show = async () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : find(await load(), words);
    list.replaceChildren(...found.map(item));
    if (words.length > 0 && found.length === 0) {
      const none = document.createElement('li');
      none.textContent = 'Nothing found';
      list.append(none);
    }
    list.hidden = words.length === 0;
  };

  box.addEventListener('focus', load);
  box.addEventListener('input', show);
  box.addEventListener('keydown', event => {
    if (event.key === 'Enter') list.querySelector('a')?.click();
    if (event.key === 'Escape') {
      box.value = '';
      show();
    }
  });
  list.addEventListener('click', event => {
    if (event.target.closest('a')) list.hidden = true;
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
  document.addEventListener('click', event => {
    if (!event.target.closest('.search')) list.hidden = true;
  });
  box.closest('.search').hidden = false;
})();

// A button at each code block copies its text.
(() => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('main pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(block.textContent.replace(/\n$/, ''));
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not copied';
      }
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    block.before(frame);
    frame.append(block, button);
  }
})();
