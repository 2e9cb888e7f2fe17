package dev.bourse.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A change of one item with its consequences: revisions written and dropped, storage reserved and
 * released, uploads and blobs that became obsolete. All of it is one commit.
 *
 * @param before empty if the item is new
 * @param after empty if it is removed
 * @param draftFiles files of the draft, if the change announces a set
 */
record ChangeSet(
    Optional<Checkpoint> before, Optional<Checkpoint> after, Optional<DraftFiles> draftFiles) {
  /**
   * The files of an announced set.
   *
   * @param revision the draft's number
   */
  record DraftFiles(int revision, List<SetFile> files) {
    DraftFiles {
      files = List.copyOf(files);
    }
  }

  ChangeSet(Optional<Checkpoint> before, Optional<Checkpoint> after) {
    this(before, after, Optional.empty());
  }

  ChangeSet {
    if (before.isEmpty() && after.isEmpty()) {
      throw new IllegalArgumentException("a change needs a state before or after it");
    }
  }

  static ChangeSet of(Checkpoint before, Checkpoint after) {
    return new ChangeSet(Optional.of(before), Optional.of(after));
  }

  /** Returns the item after the change, or before it if it is removed. */
  Checkpoint item() {
    return after.or(() -> before).orElseThrow();
  }

  /** Returns new and changed revisions. */
  List<Revision> written() {
    List<Revision> known = before.map(Checkpoint::revisions).orElse(List.of());
    return after.map(Checkpoint::revisions).orElse(List.of()).stream()
        .filter(revision -> !known.contains(revision))
        .toList();
  }

  /** Returns dropped revisions. */
  List<Revision> dropped() {
    List<Integer> kept =
        after.map(Checkpoint::revisions).orElse(List.of()).stream().map(Revision::number).toList();
    return before.map(Checkpoint::revisions).orElse(List.of()).stream()
        .filter(revision -> !kept.contains(revision.number()))
        .toList();
  }

  /** Returns the revision that a publishing credential announces with this change. */
  Optional<Revision> announcedByCredential() {
    return written().stream()
        .filter(revision -> revision.credentialId() != null && revision.isAwaited())
        .filter(revision -> wasAwaited(revision.number()).isEmpty())
        .findFirst();
  }

  /** Returns the revision whose bytes this change publishes. */
  Optional<Revision> published() {
    return written().stream()
        .filter(revision -> revision.isHeld() && !revision.isAwaited())
        .filter(revision -> wasAwaited(revision.number()).isPresent())
        .findFirst();
  }

  private Optional<Revision> wasAwaited(int number) {
    return before.map(Checkpoint::revisions).orElse(List.of()).stream()
        .filter(revision -> revision.number() == number && revision.isAwaited())
        .findFirst();
  }

  /** Returns the bytes of storage reserved; negative if released. */
  long bytesTaken() {
    return after.map(Checkpoint::heldBytes).orElse(0L)
        - before.map(Checkpoint::heldBytes).orElse(0L);
  }

  /** Returns the change of the number of items. */
  int itemsTaken() {
    return (after.isPresent() ? 1 : 0) - (before.isPresent() ? 1 : 0);
  }

  /** Returns the numbers of the sets whose files this item no longer needs. */
  List<Integer> obsoleteSets() {
    return Stream.concat(
            dropped().stream(),
            written().stream().filter(revision -> revision.state() == Revision.State.EXPIRED))
        .filter(revision -> revision.metadata().isSet())
        .map(Revision::number)
        .toList();
  }

  /** Returns the names of the uploads that receive no more bytes. */
  List<String> obsoleteUploads() {
    List<String> names = new ArrayList<>();
    dropped().forEach(revision -> addUpload(names, revision));
    written().stream()
        .filter(revision -> revision.state() == Revision.State.EXPIRED)
        .forEach(revision -> addUpload(names, revision));
    return names;
  }

  private void addUpload(List<String> names, Revision revision) {
    if (revision.resumable() && revision.state() != Revision.State.READY) {
      names.add(BlobName.upload(item().id(), revision.number()));
    }
  }

  /** Returns the keys of the blobs that are no longer read. */
  List<String> obsoleteBlobs() {
    List<String> keys = new ArrayList<>();
    dropped().stream()
        .filter(revision -> revision.sha256() != null)
        .forEach(revision -> keys.add(key(revision)));
    List<Revision> now = after.map(Checkpoint::revisions).orElse(List.of());
    for (Revision was : before.map(Checkpoint::revisions).orElse(List.of())) {
      boolean isLost =
          was.sha256() != null
              && now.stream()
                  .anyMatch(
                      revision ->
                          revision.number() == was.number()
                              && !Objects.equals(revision.sha256(), was.sha256()));
      if (isLost) {
        keys.add(key(was));
      }
    }
    return keys;
  }

  private String key(Revision revision) {
    return BlobName.key(item().id(), revision.number(), String.valueOf(revision.sha256()));
  }
}
