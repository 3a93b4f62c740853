export const ALONE: string[];
export const CI_FLOWS: string[];
export const NIGHTLY_FLOWS: string[];
