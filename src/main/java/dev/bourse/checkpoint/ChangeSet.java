package dev.bourse.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A change of one item, and all that follows from it: which revisions are written and dropped, what
 * storage is taken or returned, which bytes are of no more use. All of it goes into one commit.
 *
 * @param before empty when the item is new
 * @param after empty when it is removed
 * @param draftFiles of the draft, when the change announces a set
 */
record ChangeSet(
    Optional<Checkpoint> before, Optional<Checkpoint> after, Optional<DraftFiles> draftFiles) {
  /**
   * The files of a set that is announced.
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
      throw new IllegalArgumentException("nothing changes");
    }
  }

  static ChangeSet of(Checkpoint before, Checkpoint after) {
    return new ChangeSet(Optional.of(before), Optional.of(after));
  }

  /** The item, as it is afterwards or was before. */
  Checkpoint item() {
    return after.or(() -> before).orElseThrow();
  }

  /** Revisions that are new or changed. */
  List<Revision> written() {
    List<Revision> known = before.map(Checkpoint::revisions).orElse(List.of());
    return after.map(Checkpoint::revisions).orElse(List.of()).stream()
        .filter(revision -> !known.contains(revision))
        .toList();
  }

  /** The revisions that are gone afterwards. */
  List<Revision> dropped() {
    List<Integer> kept =
        after.map(Checkpoint::revisions).orElse(List.of()).stream().map(Revision::number).toList();
    return before.map(Checkpoint::revisions).orElse(List.of()).stream()
        .filter(revision -> !kept.contains(revision.number()))
        .toList();
  }

  /** Bytes of storage taken; negative for returned. */
  long bytesTaken() {
    return after.map(Checkpoint::heldBytes).orElse(0L)
        - before.map(Checkpoint::heldBytes).orElse(0L);
  }

  /** How many items there are more; negative for fewer. */
  int itemsTaken() {
    return (after.isPresent() ? 1 : 0) - (before.isPresent() ? 1 : 0);
  }

  /** The numbers of the sets whose files are of no more use to this item. */
  List<Integer> endedSets() {
    return Stream.concat(
            dropped().stream(),
            written().stream().filter(revision -> revision.state() == Revision.State.EXPIRED))
        .filter(revision -> revision.metadata().isSet())
        .map(Revision::number)
        .toList();
  }

  /** The names of the uploads that nobody will add to any more. */
  List<String> uselessUploads() {
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

  /** The keys of the blobs that nobody will read any more. */
  List<String> uselessBlobs() {
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
