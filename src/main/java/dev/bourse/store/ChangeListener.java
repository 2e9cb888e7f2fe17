package dev.bourse.store;

/** Hears what other processes changed in the same store; never this process's own changes. */
public interface ChangeListener {
  /** A commit that carried this change is stored and visible to reads. May come more than once. */
  void changed(Change change);

  /** Changes may have gone unheard: everything read from the store is to be read again. */
  void missed();
}
