// Keeps what is not saved yet in the browser's own database, so that a reload or a dead battery loses nothing.

const NAME = "gatehouse-seat-maps";
const STORE = "maps";

function opened() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open(NAME, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(STORE);
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });
}

async function within(mode, work) {
  const database = await opened();
  try {
    return await new Promise((done, failed) => {
      const transaction = database.transaction(STORE, mode);
      const asked = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => done(asked.result);
      transaction.onabort = transaction.onerror = () => failed(transaction.error);
    });
  } finally {
    database.close();
  }
}

// Under the id of the layout, or "new" at this venue, and for this user only.
export const keep = (key, value) => within("readwrite", (store) => store.put(value, key));
export const kept = (key) => within("readonly", (store) => store.get(key));
export const forget = (key) => within("readwrite", (store) => store.delete(key));
