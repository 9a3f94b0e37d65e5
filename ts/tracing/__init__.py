"""Tracing: conversion of a function to a graph by recording its tensor operations."""
