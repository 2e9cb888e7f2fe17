/**
 * What was dropped or chosen to be published: a file, or a folder with all its files. The rules for a folder are those
 * of `bourse checkpoint push`: names that begin with a dot are left out, and there is a limit of files.
 */
import { sha256OfText } from './sha256.js';

/** The most files of a set. */
const MOST_FILES = 4096;

/** The most names of a folder that are looked at, so that a tree of empty folders ends. */
const MOST_NAMES = 4 * MOST_FILES;

/** Left-out names that are shown. */
export const SHOWN_NAMES = 5;

/**
 * @typedef {object} Member a file of what is published
 * @property {string} path from the folder to the file; the name of a single file
 * @property {File} file
 */

/**
 * @typedef {object} Picked
 * @property {string} name
 * @property {boolean} isFolder
 * @property {Member[]} files sorted by path, because an upload numbers them
 * @property {number} bytes
 * @property {string} fingerprint a digest of the name and of each file's path, size and modification time
 * @property {string[]} leftOut
 */

/** Why a folder cannot be published. */
export class UnfitFolder extends Error {}

/** @param {File} file @returns {Picked} */
export function singleFile(file) {
  return picked(file.name, false, [{ path: file.name, file }], []);
}

/** @param {string} name @param {boolean} isFolder @param {Member[]} files sorted by path @param {string[]} leftOut @returns {Picked} */
function picked(name, isFolder, files, leftOut) {
  const members = files.map(({ path, file }) => [path, file.size, file.lastModified]);
  return {
    name,
    isFolder,
    files,
    bytes: files.reduce((sum, { file }) => sum + file.size, 0),
    fingerprint: sha256OfText(JSON.stringify([name, isFolder, members])),
    leftOut,
  };
}

/** Gathers the files of one folder within the limits. */
class Gathering {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    /** @type {Member[]} */
    this.files = [];
    /** @type {Set<string>} */
    this.leftOut = new Set();
    this.names = 0;
  }

  /** Counts a name. @param {string} path */
  meet(path) {
    this.names += 1;
    if (this.names > MOST_NAMES) {
      throw new UnfitFolder(
        `${this.name} has more than ${MOST_NAMES.toLocaleString('en')} files and folders, the last one looked at is ${path}. Pack some of them into one file.`,
      );
    }
  }

  /** @param {string} path @param {File} file */
  add(path, file) {
    if (this.files.length === MOST_FILES) {
      throw new UnfitFolder(
        `${this.name} has more than ${MOST_FILES.toLocaleString('en')} files, the most a set may have. Pack some of them into one file.`,
      );
    }
    this.files.push({ path, file });
  }

  /** @returns {Picked} */
  picked() {
    if (this.files.length === 0) {
      throw new UnfitFolder(`${this.name} has no file to publish.`);
    }
    this.files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return picked(this.name, true, this.files, [...this.leftOut].sort());
  }
}

/**
 * Reads a dropped folder. Browsers do not list links; whatever else is neither a file nor a folder is refused.
 * @param {FileSystemDirectoryEntry} folder
 * @param {AbortSignal} signal ends the reading
 * @returns {Promise<Picked>}
 */
export async function droppedFolder(folder, signal) {
  const gathering = new Gathering(folder.name);
  /** @type {{entry: FileSystemDirectoryEntry, prefix: string}[]} */
  const left = [{ entry: folder, prefix: '' }];
  for (let next = left.pop(); next; next = left.pop()) {
    const reader = next.entry.createReader();
    // A reader answers some entries at a time, and none at the end.
    for (let some = await entriesOf(reader, next.prefix); some.length > 0; some = await entriesOf(reader, next.prefix)) {
      for (const entry of some) {
        signal.throwIfAborted();
        const path = next.prefix + entry.name;
        gathering.meet(path);
        if (entry.name.startsWith('.')) {
          gathering.leftOut.add(path);
        } else if (entry.isDirectory) {
          left.push({ entry: /** @type {FileSystemDirectoryEntry} */ (entry), prefix: `${path}/` });
        } else if (entry.isFile) {
          gathering.add(path, await fileOf(/** @type {FileSystemFileEntry} */ (entry), path));
        } else {
          throw new UnfitFolder(`${path} is neither a file nor a folder. Replace it with a file, or remove it.`);
        }
      }
    }
  }
  return gathering.picked();
}

/** @param {FileSystemDirectoryReader} reader @param {string} prefix @returns {Promise<FileSystemEntry[]>} */
function entriesOf(reader, prefix) {
  return new Promise((resolve, reject) => {
    reader.readEntries(resolve, (reason) => reject(unreadable(prefix || 'The folder', reason)));
  });
}

/** @param {FileSystemFileEntry} entry @param {string} path @returns {Promise<File>} */
function fileOf(entry, path) {
  return new Promise((resolve, reject) => {
    entry.file(resolve, (reason) => reject(unreadable(path, reason)));
  });
}

/** @param {string} path @param {Error} reason */
function unreadable(path, reason) {
  return new UnfitFolder(`${path} cannot be read (${reason.name}). If it is a link, replace it with the file.`);
}

/**
 * Reads a folder that was chosen in the browser's dialog, which lists all its files.
 * @param {Iterable<File>} files each with its path, which begins with the folder's name
 * @returns {Picked}
 */
export function chosenFolder(files) {
  /** @type {Gathering | null} */
  let gathering = null;
  for (const file of files) {
    const [name, ...parts] = file.webkitRelativePath.split('/');
    gathering ??= new Gathering(name);
    const hidden = parts.findIndex((part) => part.startsWith('.'));
    if (hidden < 0) {
      gathering.add(parts.join('/'), file);
    } else {
      gathering.leftOut.add(parts.slice(0, hidden + 1).join('/'));
    }
  }
  if (!gathering) {
    throw new UnfitFolder('The folder has no file to publish.');
  }
  return gathering.picked();
}
