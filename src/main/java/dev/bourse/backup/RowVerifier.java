package dev.bourse.backup;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealFault;
import dev.bourse.audit.SealService;
import dev.bourse.audit.Trails;
import dev.bourse.billing.LedgerStore;
import dev.bourse.store.Database;
import dev.bourse.store.sqlite.SqliteReading;
import dev.bourse.store.transfer.WholeStore;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the rows of a store that is not being served: its pages, its trails, its ledger. Blocks.
 */
final class RowVerifier {
  private final DataFolderLayout layout;
  private final Path file;
  private final List<String> seen = new ArrayList<>();

  RowVerifier(DataFolderLayout layout, Path file) {
    this.layout = layout;
    this.file = file;
  }

  /**
   * Reads everything.
   *
   * @param blobs the keys of the blobs in the backup
   * @return the verified parts, one sentence each
   * @throws CorruptBackupException naming the first fault
   */
  List<String> of(Set<String> blobs) throws IOException {
    try (WholeStore rows = layout.look(file)) {
      if (!rows.pending().isEmpty()) {
        throw new IOException(
            """
            the rows are those of schema %d, which only programs of that schema can prove; \
            restore without --verify, then serve, and verify a backup of that\
            """
                .formatted(DataFolderLayout.version(rows)));
      }
      WholeStore.StoreExamination pages = rows.examine();
      if (!pages.faults().isEmpty()) {
        throw new CorruptBackupException(file + ": " + pages.faults().get(0));
      }
      seen.addAll(pages.seen());
      for (BlobRow blob : BlobRow.listOf(rows)) {
        if (blob.store().isEmpty() && blob.isPublished() && !blobs.contains(blob.key())) {
          throw new CorruptBackupException(
              "blob " + blob.key() + " is named by the rows but missing");
        }
      }
    }
    Vertx vertx = Vertx.vertx();
    SqliteReading database = SqliteReading.open(file);
    try {
      proveTrails(vertx, database);
      proveLedger(database);
    } finally {
      await(database.close());
      await(vertx.close());
    }
    return seen;
  }

  private void proveTrails(Vertx vertx, Database database) throws CorruptBackupException {
    SealService seals = new SealService(vertx, database);
    List<String> owners = new ArrayList<>(List.of(Trails.PLATFORM));
    owners.addAll(
        await(
            database.read(
                "SELECT org_id FROM org ORDER BY org_id", List.of(), row -> row.text("org_id"))));
    long batches = 0;
    long rows = 0;
    for (String owner : owners) {
      for (boolean isRead : new boolean[] {false, true}) {
        Chain chain = new Chain(owner, isRead);
        @Nullable Long after = 0L;
        while (after != null) {
          SealService.Report run = await(seals.verifySeals(chain, after));
          check(chain, run.fault());
          batches += run.batches();
          rows += run.rows();
          after = run.next();
        }
      }
    }
    seen.add("trails: %d are whole; rows: %d, batches: %d".formatted(owners.size(), rows, batches));
  }

  private static void check(Chain chain, @Nullable SealFault fault) throws CorruptBackupException {
    if (fault != null) {
      throw new CorruptBackupException(
          "the trail of %s %s is not whole: batch %d: %s"
              .formatted(
                  chain.isRead() ? "reads of" : "writes of",
                  chain.orgId().equals(Trails.PLATFORM) ? "the platform" : chain.orgId(),
                  fault.batch(),
                  fault.detail()));
    }
  }

  private void proveLedger(Database database) throws CorruptBackupException {
    LedgerStore.Report ledger = await(new LedgerStore(database).verify());
    if (!ledger.unbalanced().isEmpty()) {
      throw new CorruptBackupException(
          "the ledger is not sound: the entries of transaction %d do not sum to zero"
              .formatted(ledger.unbalanced().get(0)));
    }
    if (!ledger.misfits().isEmpty()) {
      throw new CorruptBackupException(
          "the ledger is not sound: the balance of account %s is not the sum of its entries"
              .formatted(ledger.misfits().get(0).account()));
    }
    if (!ledger.isSound()) {
      throw new CorruptBackupException("the ledger is not sound: its accounts do not sum to zero");
    }
    seen.add(
        "ledger: sound; transactions: %d, accounts: %d"
            .formatted(ledger.transactions(), ledger.accounts()));
  }

  private static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    }
  }
}
