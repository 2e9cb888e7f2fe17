package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;

/** Prints at Ctrl-C how to resume an upload. */
final class ResumeHint implements AutoCloseable {
  private final Thread hook;

  ResumeHint(Progress progress, String name, long size) {
    hook =
        new Thread(
            () ->
                progress.say(
                    "%s: interrupted at %s; the same command resumes the upload"
                        .formatted(name, Sizes.part(progress.bytes(), size))));
    Runtime.getRuntime().addShutdownHook(hook);
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The process is ending, and the hook is running.
      return;
    }
  }
}
