"""Build the two sample lectures next to this file, in `lectures/`: the same slides and words, without and with a visible instructor.

The built files are committed, so nobody needs this to run Candor. To rebuild them after a change:

    apt-get install ffmpeg espeak-ng librsvg2-bin fonts-inter
    python -m surveys.sample.build_lectures
"""

import argparse
import subprocess
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surveys.sample.lecture_drawings import MOUTHS, picture

OUTPUT = Path(__file__).resolve().parent / "lectures"
TITLE = "What is a randomised controlled trial?"
FRAMES_PER_SECOND = 12
LEAD_SECONDS, PAUSE_SECONDS, SLIDE_PAUSE_SECONDS, END_SECONDS = 0.3, 0.2, 0.45, 1.0
VOICE = ["espeak-ng", "-v", "en-gb", "-s", "178", "-p", "46", "-g", "1"]
LECTURES = {"slides-only": False, "with-instructor": True}


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A spoken part, its slide, and how much of the slide is revealed by then."""

    slide: int
    step: int
    words: str


SENTENCES = [
    Sentence(slide=0, step=0, words="Does a new lecture help students learn?"),
    Sentence(slide=0, step=1, words="A randomised controlled trial finds out."),
    Sentence(slide=1, step=0, words="Some students get the new lecture."),
    Sentence(slide=1, step=1, words="The others are the control group: what we compare with."),
    Sentence(slide=2, step=0, words="Chance decides who gets which;"),
    Sentence(slide=2, step=1, words="not the teacher, and not the student."),
    Sentence(slide=3, step=0, words="That makes the two groups comparable:"),
    Sentence(slide=3, step=1, words="alike, on average, in everything else."),
    Sentence(slide=4, step=0, words="So, if their results differ by more than luck,"),
    Sentence(slide=4, step=1, words="the lecture is the reason."),
]
SLIDE_DESCRIPTIONS = [
    "The question, and a row of six students.",
    "Two groups of six students each: “New lecture” and “Control”.",
    "A die, with arrows to “New lecture” and “Control”. Below: “Not the teacher. Not the student.”",
    "The two groups again. In each, students of three kinds in equal numbers.",
    "Two bars: the results of the control group and, higher, of the new lecture. The difference is marked “Effect of the lecture”.",
]


@dataclass(frozen=True, kw_only=True)
class Speech:
    """The sound, one sample after the other, and when each sentence starts and ends, in seconds."""

    samples: NDArray[np.int16]
    rate: int
    times: list[tuple[float, float]]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


def run(*command: str, input: str | None = None) -> None:
    """Run a program and stop when it fails."""
    subprocess.run(command, input=input, text=True, check=True)  # noqa: S603


def speak(folder: Path) -> Speech:
    """Every sentence, one after the other, with a longer pause between slides."""
    parts: list[NDArray[np.int16]] = []
    times: list[tuple[float, float]] = []
    rate = 22_050

    def seconds_so_far() -> float:
        return sum(len(part) for part in parts) / rate

    def pause(seconds: float) -> None:
        parts.append(np.zeros(round(seconds * rate), dtype=np.int16))

    pause(LEAD_SECONDS)
    for index, sentence in enumerate(SENTENCES):
        path = folder / f"sentence-{index}.wav"
        run(*VOICE, "-w", str(path), sentence.words)
        with wave.open(str(path)) as sound:
            if sound.getframerate() != rate:
                raise SystemExit(f"espeak-ng was expected to speak at {rate} Hz, and spoke at {sound.getframerate()} Hz")
            samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype=np.int16)
        loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 200)
        start = seconds_so_far()
        parts.append(samples[loud[0] : loud[-1] + 1])
        times.append((start, seconds_so_far()))
        last_of_slide = index + 1 == len(SENTENCES) or SENTENCES[index + 1].slide != sentence.slide
        pause(SLIDE_PAUSE_SECONDS if last_of_slide else PAUSE_SECONDS)
    pause(END_SECONDS)
    return Speech(samples=np.concatenate(parts), rate=rate, times=times)


def mouths(speech: Speech) -> list[int]:
    """How wide the mouth is open in each frame, from the loudness of the sound at that moment."""
    per_frame = speech.rate / FRAMES_PER_SECOND
    count = int(speech.seconds * FRAMES_PER_SECOND)
    sound = speech.samples.astype(np.float64)
    loudness = np.array([np.sqrt(np.mean(sound[int(index * per_frame) : int((index + 1) * per_frame)] ** 2)) for index in range(count)])
    spoken = loudness[loudness > 300]
    thresholds = [300.0, *np.quantile(spoken, [0.35, 0.75])]
    return [int(np.searchsorted(thresholds, value)) for value in loudness]


def draw(folder: Path, speech: Speech, *, instructor: bool) -> Path:
    """The list of pictures and their durations that ffmpeg's concat demuxer reads; equal pictures are drawn once."""
    lines, drawn = ["ffconcat version 1.0"], set[str]()
    for index, mouth in enumerate(mouths(speech)):
        now = index / FRAMES_PER_SECOND
        current = max((position for position, (start, _) in enumerate(speech.times) if start - 0.25 <= now), default=0)
        sentence = SENTENCES[current]
        blink = index % 41 in {17, 18}
        name = (
            f"{sentence.slide}-{sentence.step}-{min(mouth, MOUTHS - 1)}-{blink:d}.png"
            if instructor
            else f"{sentence.slide}-{sentence.step}.png"
        )
        if name not in drawn:
            drawn.add(name)
            svg = picture(sentence.slide, step=sentence.step, mouth=mouth if instructor else None, blink=blink)
            run("rsvg-convert", "-o", str(folder / name), input=svg)
        lines += [f"file {name}", f"duration {1 / FRAMES_PER_SECOND:.6f}"]
    script = folder / ("instructor.ffconcat" if instructor else "slides.ffconcat")
    script.write_text("\n".join(lines) + "\n")
    return script


def encode(pictures: Path, sound: Path, name: str) -> None:
    """As WebM and as MP4, without metadata: a rebuild on the same machine gives the same bytes."""
    source = ["ffmpeg", "-v", "error", "-y", "-f", "concat", "-i", str(pictures), "-i", str(sound)]
    both = ["-r", str(FRAMES_PER_SECOND), "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]
    clean = ["-af", "highpass=f=90,lowpass=f=7000,loudnorm=I=-18:TP=-2:LRA=7", "-ac", "1", "-ar", "48000"]
    vp9 = ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-crf", "42", "-b:v", "0", "-g", "144", "-deadline", "good", "-cpu-used", "1"]
    h264 = [
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-crf",
        "30",
        "-preset",
        "veryslow",
        "-tune",
        "animation",
        "-g",
        "144",
        "-threads",
        "1",
    ]
    opus = ["-c:a", "libopus", "-b:a", "24k", "-application", "voip"]
    aac = ["-c:a", "aac", "-b:a", "32k"]
    run(*source, *clean, *both, *vp9, *opus, str(OUTPUT / f"{name}.webm"))
    run(*source, *clean, *both, *h264, *aac, "-movflags", "+faststart", str(OUTPUT / f"{name}.mp4"))


def write_texts(speech: Speech) -> None:
    """Captions and transcript, which both lectures share because they say the same."""

    def clock(seconds: float) -> str:
        return f"{int(seconds // 60):02}:{seconds % 60:06.3f}"

    cues = []
    for index, (sentence, (start, end)) in enumerate(zip(SENTENCES, speech.times, strict=True)):
        until = speech.times[index + 1][0] if index + 1 < len(SENTENCES) else end + 1.0
        cues.append(f"{clock(start)} --> {clock(min(until, end + 1.0))}\n{sentence.words}\n")
    (OUTPUT / "captions-en.vtt").write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
    paragraphs = [
        f"*On the slide: {description}*\n\n" + " ".join(sentence.words for sentence in SENTENCES if sentence.slide == slide)
        for slide, description in enumerate(SLIDE_DESCRIPTIONS)
    ]
    (OUTPUT / "transcript-en.md").write_text(f"# {TITLE}\n\n" + "\n\n".join(paragraphs) + "\n", encoding="utf-8")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    OUTPUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speech = speak(folder)
        sound = folder / "speech.wav"
        with wave.open(str(sound), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(speech.rate)
            file.writeframes(speech.samples.tobytes())
        write_texts(speech)
        for lecture, instructor in LECTURES.items():
            pictures = draw(folder, speech, instructor=instructor)
            encode(pictures, sound, lecture)
            poster = folder / f"{lecture}.png"
            svg = picture(0, step=1, mouth=0 if instructor else None)
            run("rsvg-convert", "-o", str(poster), input=svg)
            run("ffmpeg", "-v", "error", "-y", "-i", str(poster), "-c:v", "libwebp", "-quality", "80", str(OUTPUT / f"{lecture}.webp"))
    for path in sorted(OUTPUT.iterdir()):
        print(f"{path.stat().st_size:>8,} bytes  {path.name}")
    print(f"{speech.seconds:.1f} seconds")


if __name__ == "__main__":
    main()
